"""What is told of hooks before any of them runs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from toolpost.testing import make_scope
from toolpost_lifecycle_settings_hooks import SettingsHooks


def told(folder: Path, event: str, matcher: str | None = None, **entry: Any) -> list[str]:
    """Return what is reported as a session with one hook begins."""
    reports: list[str] = []
    handler = {"type": "command", "command": "true", **entry}
    group = {"hooks": [handler], **({} if matcher is None else {"matcher": matcher})}
    scope = replace(make_scope(folder), settings={"hooks": {event: [group]}}, report=reports.append)
    assert SettingsHooks().listeners(session=scope)
    return reports


@pytest.fixture
def project(tmp_path: Path) -> Path:
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    (hooks / "guard.sh").touch(0o755)
    (hooks / "plain.txt").touch(0o644)
    return tmp_path


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("hooks/gaurd.sh --strict", "did you mean 'guard.sh'?"),
        ('"$CLAUDE_PROJECT_DIR"/hooks/gaurd.sh', "did you mean 'guard.sh'?"),
        ("${TOOLPOST_PROJECT_DIR}/hooks/gone/guard.sh", "there is no file"),
        ("./hooks/plain.txt", "chmod +x"),
        ("no-such-program-anywhere", "no program 'no-such-program-anywhere' on the PATH"),
    ],
)
def test_a_gate_that_can_not_start_is_told_of_at_the_start(command: str, says: str, project: Path) -> None:
    (report,) = told(project, "PreToolUse", command=command)
    assert "hooks.PreToolUse[0].hooks[0] can't start" in report
    assert says in report


def test_so_is_one_without_a_shell(project: Path) -> None:
    (report,) = told(project, "PreToolUse", command="${CLAUDE_PROJECT_DIR}/hooks/gaurd.sh", args=["$x"])
    assert "did you mean 'guard.sh'?" in report


@pytest.mark.parametrize(
    "command",
    [
        "hooks/guard.sh",
        '"$CLAUDE_PROJECT_DIR"/hooks/guard.sh',
        "sh -c 'exit 1'",
        "if true; then echo; fi",
        "STRICT=1 guard",
        "$GUARD --now",
        "echo it's",
        "(cd / && guard)",
        "{ guard; }",
        "cd hooks; ./guard.sh",
    ],
)
def test_what_only_a_shell_can_say_is_left_to_it(command: str, project: Path) -> None:
    assert told(project, "PreToolUse", command=command) == []


@pytest.mark.parametrize(
    ("event", "matcher", "says"),
    [
        ("PreToolUse", "mcp__memory", "mcp__memory__.* takes all its tools"),
        ("PermissionRequest", "mcp__a|mcp__b", "mcp__a__.*"),
        ("SessionStart", "start", "did you mean 'startup'?"),
        ("PreCompact", "automatic", "is no trigger"),
        ("ConfigChange", "user", "user_settings"),
    ],
)
def test_a_matcher_that_can_never_match_is_told_of(event: str, matcher: str, says: str, tmp_path: Path) -> None:
    (report,) = told(tmp_path, event, matcher)
    assert f"hooks.{event}[0].matcher {matcher!r}" in report
    assert says in report


@pytest.mark.parametrize(
    ("event", "matcher"),
    [
        ("PreToolUse", "mcp__memory__.*"),
        ("PreToolUse", "mcp__memory__save|mcp__memory"),
        ("PreToolUse", "Whatever"),
        ("SessionStart", "startup|begin"),
        ("Notification", "my_own_kind"),
        ("SubagentStart", "explore"),
        ("Stop", "anything"),
    ],
)
def test_one_that_may_match_is_not(event: str, matcher: str, tmp_path: Path) -> None:
    assert told(tmp_path, event, matcher) == []


@pytest.mark.parametrize("matcher", ["Bash(git *)", "Bash(git:*)"])
def test_a_permission_rule_in_a_matchers_place_is_told_of(matcher: str, tmp_path: Path) -> None:
    (report,) = told(tmp_path, "PreToolUse", matcher)
    assert 'belongs into the hook\'s "if"' in report


@pytest.mark.parametrize("matcher", ["(Bash|Edit)", "Bash(Output)?", "mcp__.*__(read|write)"])
def test_a_pattern_with_brackets_is_not(matcher: str, tmp_path: Path) -> None:
    assert told(tmp_path, "PreToolUse", matcher) == []


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        ({"type": "comand"}, "is of type 'comand'; did you mean 'command'?"),
        ({"type": "prompt"}, "needs a 'prompt' to do anything."),
        ({"type": "http", "headers": {}}, "needs a 'url' to do anything."),
        ({"type": "mcp_tool", "server": "a"}, "needs a 'tool' to do anything."),
        ({"command": "true", "timout": 5}, "has 'timout', which means nothing; did you mean 'timeout'?"),
        ({"command": "true", "onfailure": "block"}, "did you mean 'onFailure'?"),
        ({"command": "true", "if": "Bash(git"}, "so that it runs for every call"),
        ({"command": "true", "if": 7}, "so that it runs for every call"),
    ],
)
def test_an_entry_that_does_not_do_what_it_says_is_told_of(entry: dict[str, Any], says: str, tmp_path: Path) -> None:
    (report,) = told(tmp_path, "PreToolUse", **entry)
    assert report.startswith("settings: hooks.PreToolUse[0].hooks[0] ")
    assert says in report


@pytest.mark.parametrize("entry", [{"type": "of_a_strangers_plugin"}, {"command": "true", "note": "why it is here"}])
def test_what_may_be_a_strangers_is_not(entry: dict[str, Any], tmp_path: Path) -> None:
    assert told(tmp_path, "PreToolUse", **entry) == []


def test_a_script_whose_interpreter_is_not_there_is_told_of(project: Path) -> None:
    (project / "hooks" / "guard.sh").write_text("#!/no/such/python -u\n")
    (report,) = told(project, "PreToolUse", command="hooks/guard.sh")
    assert "names /no/such/python, and there is no such program" in report


def test_a_gate_that_blocks_by_itself_does_not_hold_nothing_back(project: Path) -> None:
    (report,) = told(project, "PreToolUse", command="hooks/gaurd.sh", onFailure="block")
    assert "can't start and blocks whatever it gates" in report
