"""A call that runs, whatever it raises, and its result."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fake_session import fake_session, listen, of_type, result_of, run
from fake_tools import HI, Acts, EchoInput, call

from toolpost import (
    Progress,
    Tool,
    ToolContext,
    ToolError,
    ToolFailed,
    ToolFinished,
    ToolProgressed,
    ToolResult,
    ToolStarted,
    ToolUse,
    on,
)
from toolpost.events._base import BlockOutcome
from toolpost.events.tool import PostToolUseFailure, PostToolUseOutcome
from toolpost.testing import FakeModel

# Step 9: the call.


class Weird(BaseException):
    """An exception that is no Exception."""


@pytest.mark.requirement("pipeline.never_raises")
@pytest.mark.parametrize(
    "failure",
    [ValueError("broken"), SystemExit(3), Weird("odd"), asyncio.CancelledError(), ToolError("told"), TimeoutError("t")],
    ids=lambda failure: type(failure).__name__,
)
async def test_whatever_a_tool_raises_is_a_result_and_the_turn_goes_on(tmp_path: Path, failure: BaseException) -> None:
    def act(ctx: ToolContext) -> None:
        raise failure

    done = await call(tmp_path, Acts(act=act), tool="Acts")

    assert done.finished.is_error
    assert str(failure) in done.text
    assert not done.text.endswith(": ")
    assert result_of(done.events).terminal_reason == "completed"


@pytest.mark.requirement("pipeline.never_raises")
@pytest.mark.parametrize("failure", [ValueError("broken"), SystemExit(3), Weird("odd"), asyncio.CancelledError()])
@pytest.mark.parametrize(
    "method",
    [
        "validate_input",
        "is_concurrency_safe",
        "is_read_only",
        "check_permissions",
        "permission_matcher",
        "backfill_observable_input",
        "to_result_block",
        "render_call",
        "render_result",
        "activity",
    ],
)
async def test_whatever_else_of_a_tool_raises_the_call_gets_its_result(
    tmp_path: Path, method: str, failure: BaseException
) -> None:
    def broken(self: Any, *args: Any) -> Any:
        raise failure

    async def broken_later(self: Any, *args: Any) -> Any:
        raise failure

    later = method in ("validate_input", "check_permissions")
    kind = type("Broken", (Acts,), {"name": "Acts", method: broken_later if later else broken})
    done = await call(tmp_path, kind(act=lambda ctx: "ran"), tool="Acts")

    assert result_of(done.events).terminal_reason == "completed"
    if method in ("render_call", "render_result", "activity", "is_concurrency_safe"):
        assert done.text == "ran", "what is only for showing must not cost the result"


async def test_progress_is_shown_between_start_and_end(tmp_path: Path) -> None:
    events = (await call(tmp_path)).events
    shown = [type(event) for event in events if isinstance(event, ToolStarted | ToolProgressed | ToolFinished)]

    assert shown == [ToolStarted, ToolProgressed, ToolFinished]
    (progress,) = of_type(events, ToolProgressed)
    assert (progress.text, progress.data) == ("saying", {"part": 1})


@pytest.mark.requirement("pipeline.progress_at_once")
async def test_progress_of_a_running_call_is_shown_before_its_result(tmp_path: Path) -> None:
    seen = asyncio.Event()

    class Tells(Tool[EchoInput]):
        name = "Tells"
        input_model = EchoInput

        async def call(self, input: EchoInput, ctx: ToolContext, progress: Progress) -> ToolResult:
            progress("half way")
            await seen.wait()
            return ToolResult("all")

    model = FakeModel(ToolUse("toolu_1", "Tells", HI), "Done.")
    async with asyncio.timeout(20), fake_session(tmp_path, model, Tells()) as session:
        async for event in session.submit("go"):
            if isinstance(event, ToolProgressed):
                seen.set()

    assert seen.is_set()


# Step 10 to 13: the result.


@pytest.mark.requirement("pipeline.empty_result_has_text")
@pytest.mark.parametrize("data", ["", None, []])
async def test_an_empty_result_gets_a_text(tmp_path: Path, data: object) -> None:
    done = await call(tmp_path, Acts(act=lambda ctx: ToolResult(data)), tool="Acts")

    assert done.text in ("(Acts completed with no output)", "[]")


async def test_a_result_that_the_tool_marks_as_failed_is_heard_of_as_a_failure(tmp_path: Path) -> None:
    heard: list[Any] = []
    done = await call(
        tmp_path,
        Acts(act=lambda ctx: ToolResult("exit code 1", is_error=True)),
        listen(on.post_tool_use, lambda event: heard.append(event)),
        listen(on.post_tool_use_failure, lambda event: BlockOutcome(block=True, reason=f"after {event.error!r}")),
        tool="Acts",
    )

    assert (done.finished.is_error, done.text) == (True, "exit code 1\n\nafter 'exit code 1'")
    assert heard == []


async def test_post_hooks_add_notes_and_replace_the_output(tmp_path: Path) -> None:
    first = listen(on.post_tool_use, lambda event: PostToolUseOutcome(updated_output=event.tool_response + "!"))
    second = listen(
        on.post_tool_use,
        lambda event: PostToolUseOutcome(
            updated_output=event.tool_response + "?",
            block=True,
            reason="run the linter",
            additional_context="and tests",
        ),
    )

    assert (await call(tmp_path, first, second)).text == "hi!?\n\nrun the linter\n\nand tests"


async def test_an_output_of_a_hook_that_the_tool_cannot_read_leaves_the_tools_own(tmp_path: Path) -> None:
    class Shaped(Acts):
        def to_result_block(self, data: Any, tool_use_id: str) -> Any:
            return {"type": "tool_result", "tool_use_id": tool_use_id, "content": data["text"]}

    hook = listen(on.post_tool_use, lambda event: PostToolUseOutcome(updated_output="no mapping"))
    done = await call(tmp_path, Shaped(act=lambda ctx: ToolResult({"text": "mine"})), hook, tool="Acts")

    assert (done.finished.is_error, done.text) == (False, "mine")


async def test_a_failing_post_hook_leaves_the_result(tmp_path: Path) -> None:
    def broken(event: Any) -> None:
        raise RuntimeError("hook bug")

    done = await call(tmp_path, listen(on.post_tool_use, broken))

    assert (done.finished.is_error, done.text) == (False, "hi")
    assert "hook bug" in done.notices


async def test_a_post_hook_may_end_the_turn(tmp_path: Path) -> None:
    done = await call(
        tmp_path, listen(on.post_tool_use, lambda event: PostToolUseOutcome(stop=True, stop_reason="over"))
    )

    assert result_of(done.events).terminal_reason == "hook_stopped"


@pytest.mark.requirement("pipeline.error_is_reported_to_hooks")
async def test_a_failed_call_is_told_to_hooks_whose_notes_the_model_reads(tmp_path: Path) -> None:
    heard: list[PostToolUseFailure] = []

    def hears(event: PostToolUseFailure) -> BlockOutcome:
        heard.append(event)
        return BlockOutcome(additional_context="have you tried turning it off?")

    def act(ctx: ToolContext) -> None:
        raise ToolFailed("no power")

    done = await call(tmp_path, Acts(act=act), listen(on.post_tool_use_failure, hears), tool="Acts")

    assert [(event.tool_name, event.error, event.is_interrupt) for event in heard] == [("Acts", "no power", False)]
    assert done.finished.is_error
    assert done.text == "no power\n\nhave you tried turning it off?"


async def test_a_failure_hook_may_end_the_turn(tmp_path: Path) -> None:
    def act(ctx: ToolContext) -> None:
        raise ToolFailed("no power")

    ends = listen(on.post_tool_use_failure, lambda event: BlockOutcome(stop=True, stop_reason="call the electrician"))
    done = await call(tmp_path, Acts(act=act), ends, tool="Acts")

    assert result_of(done.events).terminal_reason == "hook_stopped"
    assert "electrician" in done.notices


@pytest.mark.requirement("results.large_goes_to_a_file")
async def test_an_overlong_result_is_kept_whole_in_a_file_and_shown_as_a_preview(tmp_path: Path) -> None:
    text = "".join(f"line {n} 🦀\n" for n in range(1_000))
    done = await call(tmp_path, input={"text": text})
    (file,) = (tmp_path / "state").glob("projects/*/*/tool-results/*.txt")

    assert file.read_text(encoding="utf-8") == text
    assert str(file) in done.text
    assert len(done.text) < 3_000
    assert done.text.endswith("🦀\n...")
    done.text.encode()


async def test_a_context_modifier_that_raises_costs_the_change_and_not_the_result(tmp_path: Path) -> None:
    def modifier(ctx: ToolContext) -> ToolContext:
        raise RuntimeError("no such folder")

    done = await call(tmp_path, Acts(act=lambda ctx: ToolResult("moved", context_modifier=modifier)), tool="Acts")

    assert (done.finished.is_error, done.text) == (False, "moved")
    assert result_of(done.events).terminal_reason == "completed"
    assert "no such folder" in done.notices


async def test_a_context_modifier_counts_from_the_next_call_on(tmp_path: Path) -> None:
    (tmp_path / "project" / "sub").mkdir(parents=True)
    where: list[Path] = []

    def act(ctx: ToolContext) -> ToolResult:
        where.append(ctx.cwd)
        return ToolResult("x", context_modifier=lambda c: replace(c, cwd=c.cwd / "sub"))

    model = FakeModel([ToolUse("t1", "Acts", HI), ToolUse("t2", "Acts", HI)], "Done.")
    async with fake_session(tmp_path, model, Acts(act=act)) as session:
        await run(session)

    project = (tmp_path / "project").resolve()
    assert where == [project, project / "sub"]


async def test_a_context_modifier_moves_the_folder_and_loosens_nothing(tmp_path: Path) -> None:
    seen: list[ToolContext] = []

    def modifier(c: ToolContext) -> ToolContext:
        return replace(c, scope=replace(c.scope, mode="bypassPermissions", directories=(Path("/"),)))

    def act(ctx: ToolContext) -> ToolResult:
        seen.append(ctx)
        return ToolResult("x", context_modifier=modifier)

    model = FakeModel([ToolUse("t1", "Acts", HI), ToolUse("t2", "Acts", HI)], "Done.")
    async with fake_session(tmp_path, model, Acts(act=act)) as session:
        await run(session)

    assert [ctx.mode for ctx in seen] == ["default", "default"]
    assert seen[1].scope.directories == seen[0].scope.directories
