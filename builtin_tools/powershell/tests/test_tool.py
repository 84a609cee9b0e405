from __future__ import annotations

import json
from pathlib import Path

import pytest
from powershell_stand_in import install  # type: ignore[import-not-found]  # it lies beside this file

from toolpost import Commands, ShellInput, ToolContext
from toolpost.testing import PlainCommands, call_tool, make_context
from toolpost_tool_powershell import PowerShell
from toolpost_tool_powershell.matcher import Statements


@pytest.fixture
def commands() -> PlainCommands:
    return PlainCommands()


@pytest.fixture
def ctx(tmp_path: Path, commands: PlainCommands, monkeypatch: pytest.MonkeyPatch) -> ToolContext:
    install(tmp_path, monkeypatch)
    (tmp_path / "project" / "sub").mkdir(parents=True)
    return make_context(tmp_path / "project", services={Commands: commands})


def test_it_is_on_only_where_there_is_a_pwsh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    assert not PowerShell().is_enabled()
    install(tmp_path, monkeypatch)
    assert PowerShell().is_enabled()


async def test_output_exit_code_and_folder_come_back(ctx: ToolContext, commands: PlainCommands) -> None:
    result = await call_tool(PowerShell(), {"command": "Write-Output $TOOLPOST\nSet-Location sub\nFail 3"}, ctx)
    assert (result.data["stdout"], result.data["exitCode"], result.is_error) == ("1\n", 3, True)
    assert result.context_modifier is not None
    assert result.context_modifier(ctx).cwd == ctx.cwd / "sub"
    assert list(commands.folder().iterdir()) == []


async def test_time_outs_and_the_background_are_those_of_every_shell(ctx: ToolContext, commands: PlainCommands) -> None:
    result = await call_tool(PowerShell(), {"command": "Start-Sleep 60", "timeout": 300}, ctx)
    assert result.data["timedOutAfterMs"] == 300
    result = await call_tool(PowerShell(), {"command": "Start-Sleep 60", "run_in_background": True}, ctx)
    assert result.data["backgroundTaskId"] == "task1"
    assert commands.started[0].text == "Start-Sleep 60"


@pytest.mark.parametrize(
    ("command", "specifier", "allowed"),
    [
        ("git status", "git status", True),
        ("GIT Status", "git status", True),
        ("git status -s", "git:*", True),
        ("git status; git log", "git:*", True),
        ("git status | Remove-Item x", "git:*", False),
        ("git status\nRemove-Item x", "git:*", False),
        ("git $(Remove-Item x)", "git:*", False),
        ("git 'a;b'", "git:*", False),
        ("git `\nstatus", "git:*", False),
        ("gitk", "git:*", False),
        ("rm x", "Remove-Item:*", True),
    ],
)
def test_an_allow_rule_holds_for_plain_words_only(command: str, specifier: str, allowed: bool) -> None:
    matcher = Statements(command)
    covered = all(matcher.matches(part, specifier, "allow") for part in matcher.parts)
    assert (covered and not matcher.doubt) is allowed


@pytest.mark.parametrize(
    "command",
    [
        "Remove-Item x",
        "remove-item x",
        "rm x",
        "ls; ri x",
        "if ($true) { del x }",
        "ls | % { Remove-Item $_ }",
        "& 'Remove-Item' x",
        "$(rm x)",
        "rm.exe x",
    ],
)
def test_a_deny_rule_finds_its_command_wherever_it_stands(command: str) -> None:
    matcher = Statements(command)
    assert any(matcher.matches(part, "Remove-Item:*", "deny") for part in matcher.parts)


def test_always_is_offered_for_plain_statements_and_never_for_all_of_it(ctx: ToolContext) -> None:
    (offered,) = PowerShell().suggestions(ShellInput("dotnet build; dotnet test"), ctx.scope)
    assert [rule.get("ruleContent") for rule in offered["rules"]] == ["dotnet build", "dotnet test"]
    assert PowerShell().suggestions(ShellInput("Invoke-Expression $x"), ctx.scope) == ()


def test_it_costs_a_request_little() -> None:
    tool = PowerShell()
    spent = {"name": tool.name, "description": tool.prompt({}), "input_schema": tool.shape().schema}
    assert len(json.dumps(spent)) <= 1_100


def test_a_sleep_stays_in_the_foreground() -> None:
    assert not PowerShell().may_move(ShellInput("Start-Sleep 60"))
    assert PowerShell().may_move(ShellInput("dotnet build"))
