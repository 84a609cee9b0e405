"""What hooks export at a start, a change of folder or of a file is in force for later Bash calls."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hook_stage import Does, HookStage, call

from toolpost import Notice, ToolContext, ToolResult
from toolpost.testing import FakeModel, record
from toolpost_service_background import BackgroundService
from toolpost_service_commands import CommandsService
from toolpost_tool_bash import Bash


def bash(command: str, id: str = "b1") -> Any:
    return call("Bash", id, command=command)


def stage_of(folder: Path, *turns: Any, plugins: Any = (), **fields: Any) -> HookStage:
    given = [Bash(), CommandsService(), BackgroundService(), *plugins]
    return HookStage(folder, FakeModel(*turns, "Done."), given, **fields)


async def outputs(stage: HookStage, *prompts: str) -> list[str]:
    async with stage.session() as session:
        return list((await record(session, *(prompts or ("go",)))).results.values())


@pytest.mark.parametrize("variable", ["TOOLPOST_ENV_FILE", "CLAUDE_ENV_FILE"])
async def test_what_a_start_hook_exports_later_commands_see(variable: str, tmp_path: Path) -> None:
    stage = stage_of(tmp_path, bash("echo is $FLAVOUR; exit 3"), bash("cd sub; echo still $FLAVOUR", "b2"))
    (stage.project / "sub").mkdir()
    stage.hook("SessionStart", f'echo \'export FLAVOUR="so so"\' >> "${variable}"')
    first, second = await outputs(stage)

    assert "is so so" in first
    assert "3" in first
    assert "still so so" in second


async def test_several_hooks_export_side_by_side_and_other_events_can_not(tmp_path: Path) -> None:
    stage = stage_of(tmp_path, bash('echo "$A-$B-${C-none}"'))
    stage.hook("SessionStart", 'echo export A=1 >> "$CLAUDE_ENV_FILE"')
    stage.hook("SessionStart", 'echo export B=2 >> "$CLAUDE_ENV_FILE"')
    stage.hook("UserPromptSubmit", 'echo export C=3 >> "${CLAUDE_ENV_FILE:-/dev/null}"')
    assert "1-2-none" in (await outputs(stage))[0]


async def test_a_change_of_folder_exports_anew(tmp_path: Path) -> None:
    stage = stage_of(
        tmp_path, bash("mkdir -p one two; cd one"), bash("echo in $IN; cd ../two", "b2"), bash("echo in $IN")
    )
    script = 'dir=$(sed \'s/.*"new_cwd": "//; s/".*//\'); echo "export IN=${dir##*/}" >> "$CLAUDE_ENV_FILE"'
    stage.hooks["CwdChanged"] = [{"hooks": [{"type": "command", "command": script}]}]
    _, second, third = await outputs(stage)
    assert "in one" in second
    assert "in two" in third


async def test_a_new_conversation_begins_without_them(tmp_path: Path) -> None:
    stage = stage_of(tmp_path, bash("echo is $FLAVOUR"), "Done.", bash("echo is ${FLAVOUR-gone}", "b2"))
    stage.hook("SessionStart", 'echo export FLAVOUR=sweet >> "$CLAUDE_ENV_FILE"', matcher="startup")
    async with stage.session() as session:
        first = (await record(session, "go")).results
        await session.clear()
        second = (await record(session, "go")).results
    assert "is sweet" in first["b1"]
    assert "is gone" in second["b2"]


async def test_a_file_with_commands_of_its_own_is_read_as_bash_reads_it(tmp_path: Path) -> None:
    stage = stage_of(tmp_path, bash("greet; echo code $?; false"), bash("echo -n", "b2"))
    stage.hook("SessionStart", "printf '%s\\n' 'greet() { echo hello there; }' >> \"$CLAUDE_ENV_FILE\"")
    first, _ = await outputs(stage)
    assert "hello there" in first
    assert "code 0" in first


async def test_one_that_is_broken_is_seen_and_commands_run_all_the_same(tmp_path: Path) -> None:
    stage = stage_of(tmp_path, bash("echo ran"))
    stage.hook("SessionStart", "echo 'export A=(' >> \"$CLAUDE_ENV_FILE\"")
    (output,) = await outputs(stage)
    assert "ran" in output


async def test_the_file_that_the_person_names_is_read_too(tmp_path: Path) -> None:
    own = tmp_path / "own env.sh"
    own.write_text("export MINE=yes\n")

    async def name_it(ctx: ToolContext) -> ToolResult:
        return ToolResult("ok", context_modifier=lambda c: replace(c, env={**c.env, "CLAUDE_ENV_FILE": str(own)}))

    stage = stage_of(tmp_path, call("does", "d1"), bash("echo is $MINE"), plugins=[Does(name_it)])
    assert "is yes" in (await outputs(stage))[1]


async def test_a_sub_agents_commands_see_them(tmp_path: Path) -> None:
    from toolpost import AgentRequest
    from toolpost_executor_local import LocalExecutor

    async def delegate(ctx: ToolContext) -> None:
        await ctx.agents.run(AgentRequest(prompt="Look."))

    stage = stage_of(
        tmp_path, call("does", "d1"), bash("echo is $FLAVOUR"), "Seen.", plugins=[Does(delegate), LocalExecutor()]
    )
    stage.hook("SessionStart", 'echo export FLAVOUR=sweet >> "$CLAUDE_ENV_FILE"')
    await outputs(stage)
    model = stage.model
    assert isinstance(model, FakeModel)
    assert "is sweet" in json.dumps(model.requests[2].messages)


@pytest.mark.parametrize("ends", ["exit 3", "set -e; false", "exec true", 'eval "exit 1"'])
async def test_one_that_ends_bash_is_told_of_once_and_commands_run_all_the_same(ends: str, tmp_path: Path) -> None:
    stage = stage_of(tmp_path, bash("echo is $FLAVOUR"), bash("echo again $FLAVOUR", "b2"))
    stage.hook("SessionStart", f"echo '{ends}' >> \"$CLAUDE_ENV_FILE\"")
    stage.hook("SessionStart", 'echo export FLAVOUR=sweet >> "$CLAUDE_ENV_FILE"')
    async with stage.session() as session:
        found = await record(session, "go")

    first, second = found.results.values()
    assert "bash does not get to its end\nis sweet" in first
    assert second == "again sweet"
    assert ["Take out what ends bash" in event.text for event in found.events if isinstance(event, Notice)] == [True]


async def test_one_that_is_mended_is_read_again(tmp_path: Path) -> None:
    own = tmp_path / "env.sh"
    own.write_text("exit 1\n")

    async def mend(ctx: ToolContext) -> ToolResult:
        if ctx.env.get("CLAUDE_ENV_FILE"):
            own.write_text("export MINE=$(echo yes)\n")
        return ToolResult("ok", context_modifier=lambda c: replace(c, env={**c.env, "CLAUDE_ENV_FILE": str(own)}))

    turns = (call("does", "d1"), bash("echo is $MINE"), call("does", "d2"), bash("echo is $MINE", "b2"))
    results = await outputs(stage_of(tmp_path, *turns, plugins=[Does(mend)]))
    assert "is yes" not in results[1]
    assert results[3] == "is yes"
