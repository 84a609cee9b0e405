"""The thirteen steps of one call, each through a session of small plugins."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import pytest
from fake_session import fake_session, listen, of_type, result_of, run, texts

from toolpost import (
    Ask,
    Decision,
    Deny,
    Notice,
    PermissionScope,
    Progress,
    SessionEvent,
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
from toolpost.events.tool import PostToolUseFailure, PostToolUseOutcome, PreToolUse, PreToolUseOutcome
from toolpost.testing import FakeModel


@dataclass(frozen=True)
class EchoInput:
    text: str
    count: int = 1


class Echo(Tool[EchoInput]):
    """Says what it is told; keeps what it was called with."""

    name = "Echo"
    aliases = ("Say",)
    input_model = EchoInput
    max_result_chars = 5_000
    ran: list[EchoInput]

    async def validate_input(self, input: EchoInput, ctx: ToolContext) -> str | None:
        return "The text must not be 'forbidden'." if input.text == "forbidden" else None

    async def call(self, input: EchoInput, ctx: ToolContext, progress: Progress) -> ToolResult:
        self.ran.append(input)
        progress("saying", part=1)
        return ToolResult(input.text * input.count)


class Acts(Tool[EchoInput]):
    """Does what a test gives it."""

    name = "Acts"
    input_model = EchoInput
    act: Any

    async def call(self, input: EchoInput, ctx: ToolContext, progress: Progress) -> ToolResult:
        answer = self.act(ctx)
        answer = await answer if asyncio.iscoroutine(answer) else answer
        return answer if isinstance(answer, ToolResult) else ToolResult(answer)


@dataclass
class Done:
    """What came of one call."""

    text: str
    finished: ToolFinished
    events: Sequence[SessionEvent]
    echo: Echo

    @property
    def ran(self) -> list[str]:
        return [call.text for call in self.echo.ran]

    @property
    def notices(self) -> str:
        return "\n".join(notice.text for notice in of_type(self.events, Notice))


HI = {"text": "hi"}


async def call(
    tmp_path: Path,
    *plugins: object,
    tool: str = "Echo",
    input: Mapping[str, Any] = HI,
    raw: str | None = None,
    **options: Any,
) -> Done:
    """Make one call as the model would, and return what came of it."""
    echo = Echo(ran=[])
    model = FakeModel(ToolUse("toolu_1", tool, dict(input), raw), "Done.")
    async with fake_session(tmp_path, model, echo, *plugins, **options) as session:
        events = await run(session)
    (finished,) = of_type(events, ToolFinished)
    assert result_of(events).terminal_reason
    return Done(texts(events)["toolu_1"], finished, events, echo)


def pre(decision: Any = None, **fields: Any) -> object:
    """A plugin whose PreToolUse listener always answers so."""
    return listen(on.pre_tool_use, lambda event: PreToolUseOutcome(decision=decision, **fields))


# Step 1 to 4: tool, abort, schema, the tool's own check.


@pytest.mark.requirement("pipeline.unknown_tool")
async def test_an_unknown_tool_gets_an_error_that_names_the_tools_there_are(tmp_path: Path) -> None:
    done = await call(tmp_path, tool="Teleport")

    assert done.finished.is_error
    assert "No such tool: 'Teleport'" in done.text
    assert "Echo" in done.text


@pytest.mark.requirement("pipeline.alias")
async def test_a_tool_is_found_by_its_alias(tmp_path: Path) -> None:
    assert (await call(tmp_path, tool="Say")).text == "hi"


@pytest.mark.requirement("pipeline.schema_error_mends")
@pytest.mark.parametrize(
    ("input", "names"),
    [({}, "text"), ({"text": 3}, "text"), ({"text": "a", "cuont": 2}, "cuont"), ({"text": "a", "count": "x"}, "count")],
)
async def test_an_input_of_the_wrong_shape_runs_nothing_and_names_the_parameter(
    tmp_path: Path, input: Mapping[str, Any], names: str
) -> None:
    done = await call(tmp_path, input=input)

    assert done.finished.is_error
    assert f"`{names}`" in done.text
    assert done.ran == []


@pytest.mark.requirement("pipeline.deferred_names_tool_search")
async def test_a_wrong_input_for_a_tool_whose_schema_was_not_sent_names_the_search_for_it(tmp_path: Path) -> None:
    class Deferred(Acts):
        name = "Deferred"
        should_defer = True

    done = await call(tmp_path, Deferred(act=lambda ctx: "ran"), tool="Deferred", input={"wrong": 1})
    sent = await call(tmp_path, input={"wrong": 1})

    assert "ToolSearch" in done.text
    assert "ToolSearch" not in sent.text


async def test_input_that_is_no_json_object_is_shown_to_the_model(tmp_path: Path) -> None:
    done = await call(tmp_path, input={}, raw='{"text": "unfinis')

    assert done.finished.is_error
    assert '{"text": "unfinis' in done.text
    assert done.ran == []


async def test_a_huge_input_that_is_no_json_object_is_not_sent_back_whole(tmp_path: Path) -> None:
    done = await call(tmp_path, input={}, raw="x" * 1_000_000)

    assert len(done.text) < 10_000


@pytest.mark.requirement("pipeline.validate_input")
async def test_what_the_tool_refuses_is_not_run_and_the_model_reads_why(tmp_path: Path) -> None:
    done = await call(tmp_path, input={"text": "forbidden"})

    assert (done.finished.is_error, done.ran) == (True, [])
    assert "must not be 'forbidden'" in done.text


# Step 6 and 7: what hooks see, and what they answer.


@pytest.mark.requirement("pipeline.refusals_told_apart")
async def test_each_way_of_refusing_reads_differently(tmp_path: Path) -> None:
    from toolpost import Reply

    def broken(event: PreToolUse) -> None:
        raise RuntimeError("hook bug")

    async def hangs(event: PreToolUse) -> None:
        await asyncio.Event().wait()

    async def refuses(question: Any) -> Reply:
        return Reply(allow=False, feedback="use another")

    hook = (await call(tmp_path, pre("deny", reason="no echoes"))).text
    failure = (await call(tmp_path, listen(on.pre_tool_use, broken))).text
    timed_out = (await call(tmp_path, listen(on.pre_tool_use, hangs, timeout=0.01))).text
    user = (await call(tmp_path, allow=False, ask=refuses)).text
    nobody = (await call(tmp_path, allow=False)).text

    assert hook.startswith("A hook denied this call: no echoes")
    assert "failed: RuntimeError: hook bug" in failure
    assert "not a decision of the user" in failure
    assert "timed out after 0.01 s" in timed_out
    assert "not a decision of the user" in timed_out
    assert user.startswith("The user refused this call. They said: use another")
    assert "nobody to ask" in nobody
    assert "The user" not in hook + failure.replace("of the user", "") + nobody


@pytest.mark.requirement("pipeline.every_gate_answers_first")
async def test_a_call_that_a_hook_denies_does_not_run(tmp_path: Path) -> None:
    assert (await call(tmp_path, pre("allow"), pre("deny"))).ran == []


async def test_a_hooks_allow_grants_what_nobody_else_has_an_opinion_on(tmp_path: Path) -> None:
    assert (await call(tmp_path, pre("allow"), allow=False)).ran == ["hi"]


@pytest.mark.requirement("permissions.rewritten_input_is_checked_again")
async def test_the_input_that_a_hook_put_in_its_place_is_what_runs(tmp_path: Path) -> None:
    done = await call(tmp_path, pre(updated_input={"text": "ho"}))

    assert (done.ran, done.text) == (["ho"], "ho")


@pytest.mark.requirement("permissions.rewritten_input_is_checked_again")
@pytest.mark.parametrize(
    ("rewritten", "says"), [({"txet": "a"}, "no longer fits"), ({"text": "forbidden"}, "must not be 'forbidden'")]
)
async def test_a_rewritten_input_passes_the_schema_and_the_tools_own_check(
    tmp_path: Path, rewritten: Mapping[str, Any], says: str
) -> None:
    done = await call(tmp_path, pre(updated_input=rewritten))

    assert (done.finished.is_error, done.ran) == (True, [])
    assert says in done.text


class DeniesText(Echo):
    """As Echo, with an opinion of its own on one text."""

    async def check_permissions(self, input: EchoInput, scope: PermissionScope) -> Decision | None:
        return Deny("that text is off limits") if input.text == "secret" else None


@pytest.mark.requirement("permissions.rewritten_input_is_checked_again")
@pytest.mark.parametrize(("asked", "rewritten"), [("secret", "hi"), ("hi", "secret")])
async def test_neither_the_input_before_a_rewrite_nor_the_one_after_may_be_denied(
    tmp_path: Path, asked: str, rewritten: str
) -> None:
    tool = DeniesText(ran=[])
    model = FakeModel(ToolUse("toolu_1", "Echo", {"text": asked}), "Done.")
    async with fake_session(tmp_path, model, tool, pre("allow", updated_input={"text": rewritten})) as session:
        events = await run(session)

    assert tool.ran == []
    assert "off limits" in texts(events)["toolu_1"]


class Fills(Echo):
    """As Echo; shows hooks an input with more in it."""

    def backfill_observable_input(self, input: Mapping[str, Any], ctx: ToolContext) -> Mapping[str, Any]:
        return {**input, "count": 1, "seen": "filled"}


@pytest.mark.requirement("pipeline.backfill_on_a_copy")
async def test_hooks_see_the_backfilled_input_and_the_tool_and_the_conversation_keep_their_own(tmp_path: Path) -> None:
    seen: list[Mapping[str, Any]] = []
    tool = Fills(ran=[])
    model = FakeModel(ToolUse("toolu_1", "Echo", {"text": "hi"}), "Done.")
    hears = listen(on.pre_tool_use, lambda event: seen.append(event.tool_input))
    async with fake_session(tmp_path, model, tool, hears) as session:
        await run(session)

    assert seen == [{"text": "hi", "count": 1, "seen": "filled"}]
    assert tool.ran == [EchoInput("hi")]
    assert model.requests[1].messages[1]["content"][0]["input"] == {"text": "hi"}  # type: ignore[index, typeddict-item]


async def test_what_a_hook_wants_the_model_to_know_follows_the_result(tmp_path: Path) -> None:
    assert (await call(tmp_path, pre(additional_context="mind the gap"))).text == "hi\n\nmind the gap"


async def test_a_hook_that_ends_the_turn_is_obeyed_after_the_call(tmp_path: Path) -> None:
    done = await call(tmp_path, pre(stop=True, stop_reason="enough for today"))
    result = result_of(done.events)

    assert result.terminal_reason == "hook_stopped"
    assert "enough for today" in done.notices


# Step 8: permission.


@pytest.mark.requirement("permissions.ask_without_a_person_is_deny")
async def test_a_call_that_nobody_allows_is_denied_where_nobody_can_be_asked(tmp_path: Path) -> None:
    done = await call(tmp_path, allow=False)

    assert (done.finished.is_error, done.ran) == (True, [])
    assert [d["tool_name"] for d in result_of(done.events).permission_denials] == ["Echo"]


class AsksFirst(Echo):
    """As Echo; asks."""

    async def check_permissions(self, input: EchoInput, scope: PermissionScope) -> Decision | None:
        return Ask("echoes carry far")


async def asked(tmp_path: Path, reply: Any, *plugins: object, **options: Any) -> tuple[Done, list[Any]]:
    """Make a call that asks, and answer so."""
    questions: list[Any] = []

    async def ask(question: Any) -> Any:
        questions.append(question)
        return reply

    tool = AsksFirst(ran=[])
    model = FakeModel(ToolUse("toolu_1", "Echo", {"text": "hi"}), "Done.")
    async with fake_session(tmp_path, model, tool, *plugins, ask=ask, **options) as session:
        events = await run(session)
    (finished,) = of_type(events, ToolFinished)
    return Done(finished.text, finished, events, tool), questions


async def test_a_person_is_shown_why_and_what_and_may_say_yes(tmp_path: Path) -> None:
    from toolpost import Reply

    done, questions = await asked(tmp_path, Reply(allow=True))

    assert done.text == "hi"
    (question,) = questions
    assert (question.title, question.decision.reason) == ("Echo", "echoes carry far")


@pytest.mark.requirement("permissions.rewritten_input_is_checked_again")
@pytest.mark.parametrize(
    ("changed", "says"), [({"text": "ho"}, "ho"), ({"x": 1}, "does not fit"), ({"text": "forbidden"}, "must not be")]
)
async def test_the_input_that_a_person_changed_is_checked_and_run(
    tmp_path: Path, changed: Mapping[str, Any], says: str
) -> None:
    from toolpost import Reply

    done, questions = await asked(tmp_path, Reply(allow=True, updated_input=changed))

    assert len(questions) == 1
    assert says in done.text
    assert done.ran == (["ho"] if says == "ho" else [])


@pytest.mark.requirement("abort.child_to_parent_only_on_stop")
async def test_a_refusal_with_stop_ends_the_turn_and_the_next_prompt_goes_on(tmp_path: Path) -> None:
    from toolpost import Reply

    async def ask(question: Any) -> Reply:
        return Reply(allow=False, stop=True)

    model = FakeModel(ToolUse("toolu_1", "Echo", HI), "Hello again.")
    async with fake_session(tmp_path, model, Echo(ran=[]), ask=ask, allow=False) as session:
        first = result_of(await run(session))
        second = result_of(await run(session))

    assert first.terminal_reason == "aborted_tools"
    assert (second.terminal_reason, second.text) == ("completed", "Hello again.")


async def test_a_refusal_without_stop_lets_the_model_go_on(tmp_path: Path) -> None:
    from toolpost import Reply

    done, _ = await asked(tmp_path, Reply(allow=False))

    assert result_of(done.events).terminal_reason == "completed"
    assert "The user refused" in done.text


async def test_a_front_end_that_fails_to_ask_grants_nothing(tmp_path: Path) -> None:
    async def ask(question: Any) -> Any:
        raise OSError("the terminal is gone")

    done = await call(tmp_path, allow=False, ask=ask)

    assert (done.finished.is_error, done.ran) == (True, [])


@pytest.mark.parametrize("decision", ["allow", "deny"])
async def test_a_permission_hook_answers_in_the_persons_place(tmp_path: Path, decision: Any) -> None:
    from toolpost import Reply
    from toolpost.events.permission import PermissionRequestOutcome

    answer = PermissionRequestOutcome(decision=decision, message="policy 7")
    done, questions = await asked(
        tmp_path, Reply(allow=decision == "deny"), listen(on.permission_request, lambda event: answer)
    )

    assert questions == []
    assert (done.ran == ["hi"]) == (decision == "allow")
    assert decision == "allow" or done.text.startswith("A hook denied this call: policy 7")


async def test_a_permission_hook_answers_where_nobody_can_be_asked(tmp_path: Path) -> None:
    from toolpost.events.permission import PermissionRequestOutcome

    answer = PermissionRequestOutcome(decision="allow")
    done = await call(tmp_path, listen(on.permission_request, lambda event: answer), allow=False)

    assert done.ran == ["hi"]


async def test_a_permission_hook_that_fails_leaves_the_question_to_the_person(tmp_path: Path) -> None:
    from toolpost import Reply
    from toolpost.events.permission import PermissionRequestOutcome

    def broken(event: Any) -> None:
        raise RuntimeError("hook bug")

    answer = PermissionRequestOutcome(decision="allow")
    done, questions = await asked(
        tmp_path,
        Reply(allow=False),
        listen(on.permission_request, broken),
        listen(on.permission_request, lambda event: answer),
    )

    assert len(questions) == 1
    assert done.ran == []


async def test_a_permission_hook_that_interrupts_ends_the_turn(tmp_path: Path) -> None:
    from toolpost import Reply
    from toolpost.events.permission import PermissionRequestOutcome

    answer = PermissionRequestOutcome(decision="deny", message="stop it", interrupt=True)
    done, _ = await asked(tmp_path, Reply(allow=True), listen(on.permission_request, lambda event: answer))

    assert result_of(done.events).terminal_reason == "aborted_tools"


async def test_the_input_of_a_permission_hook_is_checked_against_the_rules(tmp_path: Path) -> None:
    from toolpost.events.permission import PermissionRequestOutcome

    tool = DeniesText(ran=[])
    answer = PermissionRequestOutcome(decision="allow", updated_input={"text": "secret"})
    model = FakeModel(ToolUse("toolu_1", "Echo", HI), "Done.")
    hook = listen(on.permission_request, lambda event: answer)
    async with fake_session(tmp_path, model, tool, hook, allow=False) as session:
        events = await run(session)

    assert tool.ran == []
    assert "off limits" in texts(events)["toolu_1"]


@pytest.mark.parametrize("mode", ["default", "dontAsk"])
async def test_listeners_hear_of_each_refusal_without_a_person_and_may_invite_a_retry(
    tmp_path: Path, mode: str
) -> None:
    from toolpost.events.permission import PermissionDeniedOutcome

    hears = listen(on.permission_denied, lambda event: PermissionDeniedOutcome(retry=True))
    denied = await call(tmp_path, pre("deny", reason="no"), hears, permission_mode=mode)
    unasked = await call(tmp_path, hears, allow=False, permission_mode=mode)

    assert "You may try again." in denied.text
    assert "You may try again." in unasked.text


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


async def test_a_result_that_the_tool_marks_as_failed_is_an_error_and_no_exception(tmp_path: Path) -> None:
    heard: list[Any] = []
    done = await call(
        tmp_path,
        Acts(act=lambda ctx: ToolResult("exit code 1", is_error=True)),
        listen(on.post_tool_use, lambda event: heard.append(event)),
        tool="Acts",
    )

    assert (done.finished.is_error, done.text) == (True, "exit code 1")
    assert len(heard) == 1


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


@dataclass(frozen=True)
class NoInput:
    pass


class Order(Tool[NoInput]):
    """Writes down each step that it takes part in."""

    name = "Order"
    input_model = NoInput
    steps: list[str]

    async def validate_input(self, input: NoInput, ctx: ToolContext) -> str | None:
        self.steps.append("validate")
        return None

    def backfill_observable_input(self, input: Mapping[str, Any], ctx: ToolContext) -> Mapping[str, Any]:
        self.steps.append("backfill")
        return input

    async def check_permissions(self, input: NoInput, scope: PermissionScope) -> Decision | None:
        self.steps.append("permission")
        return None

    async def call(self, input: NoInput, ctx: ToolContext, progress: Progress) -> ToolResult:
        self.steps.append("call")
        return ToolResult("x")

    def to_result_block(self, data: Any, tool_use_id: str) -> Any:
        self.steps.append("map")
        return super().to_result_block(data, tool_use_id)


@pytest.mark.requirement("pipeline.steps_in_order")
async def test_a_call_takes_its_steps_in_order(tmp_path: Path) -> None:
    order = Order(steps=[])
    await call(
        tmp_path,
        order,
        listen(on.pre_tool_use, lambda event: order.steps.append("pre")),
        listen(on.post_tool_use, lambda event: order.steps.append("post")),
        tool="Order",
        input={},
    )
    steps = [step for step in order.steps if step != "map"]

    assert steps == ["validate", "backfill", "pre", "permission", "call", "post"]


class SchemaOnly(Tool[Any]):
    """Has a JSON Schema and no model."""

    name = "Acts"
    input_schema: ClassVar[Mapping[str, Any]] = {
        "type": "object",
        "properties": {"n": {"type": "integer", "minimum": 1}},
        "required": ["n"],
    }

    async def call(self, input: Any, ctx: ToolContext, progress: Progress) -> ToolResult:
        return ToolResult(str(input["n"]))


@pytest.mark.requirement("pipeline.schema_error_mends")
async def test_a_tool_that_has_only_a_json_schema_is_checked_against_it(tmp_path: Path) -> None:
    assert (await call(tmp_path, SchemaOnly(), tool="Acts", input={"n": 2})).text == "2"
    wrong = await call(tmp_path, SchemaOnly(), tool="Acts", input={"n": 0})
    assert wrong.finished.is_error
    assert "$.n" in wrong.text


@pytest.mark.requirement("permissions.every_decision_recorded")
async def test_every_decision_is_recorded_with_the_input_asked_for_and_the_input_that_ran(tmp_path: Path) -> None:
    import json

    await call(tmp_path, pre("allow", reason="fine", updated_input={"text": "ho"}))
    (file,) = (tmp_path / "state").glob("projects/*/*.jsonl")
    records = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    (record,) = [r for r in records if r["type"] == "permission-decision"]

    assert (record["toolUseId"], record["decision"], record["final"]) == ("toolu_1", "allow", "allow")
    assert (record["requestedInput"], record["effectiveInput"]) == ({"text": "hi"}, {"text": "ho"})
    assert {entry["by"] for entry in record["trace"]} == {"PreToolUse hook", "p002"}


@pytest.mark.requirement("permissions.every_decision_recorded")
async def test_the_record_has_the_input_that_a_person_put_in_the_place_of_the_models(tmp_path: Path) -> None:
    import json

    from toolpost import Reply

    await asked(tmp_path, Reply(allow=True, updated_input={"text": "ho"}))
    (file,) = (tmp_path / "state").glob("projects/*/*.jsonl")
    records = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    decided = [r for r in records if r["type"] == "permission-decision"]

    assert decided[-1]["final"] == "allow"
    assert decided[-1]["effectiveInput"] == {"text": "ho"}


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
