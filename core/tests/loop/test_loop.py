"""The loop's named ends and transitions, with a model that a test writes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from fake_session import AllowAll, fake_session, listen, of_type, result_of, run, texts

from toolpost import (
    AssistantMessage,
    Block,
    MessageStart,
    ModelInfo,
    ModelRequest,
    Notice,
    Price,
    Progress,
    PromptTooLong,
    Provider,
    ProviderError,
    Stop,
    StreamEvent,
    Streaming,
    TextDelta,
    Tool,
    ToolContext,
    ToolResult,
    ToolUse,
    Usage,
    UserMessage,
    on,
    tool,
)
from toolpost.events._base import BlockOutcome
from toolpost.events.turn import BeforeModel, BeforeModelOutcome, StopEvent, UserPromptSubmitOutcome
from toolpost.testing import FakeModel
from toolpost_core.loop.state import StopReason


@tool(read_only=True, concurrency_safe=True)
async def echo(text: str) -> str:
    """Say it."""
    return text


def call(name: str = "t1", text: str = "hi") -> ToolUse:
    return ToolUse(name, "echo", {"text": text})


class Priced(FakeModel):
    """A FakeModel whose requests have ten thousand tokens and cost a dollar each."""

    async def stream(self, request: ModelRequest) -> AsyncIterator[StreamEvent]:
        async for event in super().stream(request):
            yield event._replace(usage=Usage(input_tokens=10_000)) if isinstance(event, Stop) else event

    def model(self, name: str) -> ModelInfo:
        price = Price(input=100, output=0, cache_write=0, cache_read=0, as_of=date(2026, 1, 1))
        return ModelInfo(id=name, price=price)


async def test_an_answer_without_calls_completes(tmp_path: Path) -> None:
    async with fake_session(tmp_path, FakeModel("Hello.")) as session:
        result = result_of(await run(session))

    assert (result.terminal_reason, result.subtype, result.is_error) == ("completed", "success", False)
    assert (result.text, result.stop_reason, result.turns) == ("Hello.", "end_turn", 1)


async def test_the_model_is_asked_again_as_long_as_it_calls_tools(tmp_path: Path) -> None:
    model = FakeModel(call("t1"), call("t2"), "Done.")
    async with fake_session(tmp_path, model, echo) as session:
        result = result_of(await run(session))

    assert (result.turns, result.text) == (3, "Done.")
    assert [len(request.messages) for request in model.requests] == [1, 3, 5]
    assert model.requests[2].messages[:3] == model.requests[1].messages


@pytest.mark.requirement("budget.stops_the_run")
@pytest.mark.parametrize("turns", [1, 2, 5])
async def test_the_limit_of_turns_ends_a_run_that_would_go_on(tmp_path: Path, turns: int) -> None:
    model = FakeModel(*[call(f"t{n}") for n in range(9)])
    async with fake_session(tmp_path, model, echo, max_turns=turns) as session:
        result = result_of(await run(session))

    assert (result.terminal_reason, result.subtype, result.is_error) == ("max_turns", "error_max_turns", True)
    assert (result.turns, len(model.requests)) == (turns, turns)
    assert str(turns) in result.text, "the person is told what the limit is"


async def test_a_run_that_needs_all_its_turns_completes(tmp_path: Path) -> None:
    async with fake_session(tmp_path, FakeModel(call(), "Done."), echo, max_turns=2) as session:
        assert result_of(await run(session)).terminal_reason == "completed"


@pytest.mark.requirement("budget.stops_the_run")
async def test_the_budget_ends_a_run_and_no_later_prompt_spends_more(tmp_path: Path) -> None:
    model = Priced(*[call(f"t{n}") for n in range(9)])
    async with fake_session(tmp_path, model, echo, max_budget_usd=2.5) as session:
        first = result_of(await run(session))
        second = result_of(await run(session))

    assert (first.terminal_reason, first.subtype) == ("max_budget", "error_max_budget_usd")
    assert first.cost_usd == pytest.approx(2.0), "the request that would pass the limit is not sent"
    assert "2.0000 of 2.5000 dollars" in first.errors[0]
    assert (second.terminal_reason, len(model.requests)) == ("max_budget", 2)


@pytest.mark.parametrize(
    "pieces", [[], ["Half a sent"], ["Half", call("t1")]], ids=["at once", "in text", "after a call"]
)
async def test_an_error_of_the_provider_ends_the_turn_and_the_next_prompt_is_sound(
    tmp_path: Path, pieces: list[Any]
) -> None:
    error = ProviderError("the line is dead", kind="connection")
    model = FakeModel([*pieces, error], "Back again.")
    async with fake_session(tmp_path, model, echo) as session:
        failed = result_of(await run(session, "first"))
        back = result_of(await run(session, "second"))

    assert (failed.terminal_reason, failed.subtype, failed.is_error) == ("model_error", "error_during_execution", True)
    assert "the line is dead" in failed.text
    assert back.text == "Back again."
    assert_sound(model.requests[1])
    said = str(model.requests[1].messages)
    assert all(word in said for word in ["first", "second", *(["Half"] if pieces else [])])


def assert_sound(request: ModelRequest) -> None:
    """Roles alternate, and each call has its one result in the next message."""
    roles = [message["role"] for message in request.messages]
    assert roles == ["user", "assistant"] * (len(roles) // 2) + ["user"] * (len(roles) % 2)
    open_calls: list[str] = []
    for message in request.messages:
        blocks: Any = message["content"] if isinstance(message["content"], list) else []
        assert blocks
        results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        assert results == open_calls
        open_calls = [block["id"] for block in blocks if block["type"] == "tool_use"]
        assert blocks[-1]["type"] != "thinking"
        assert not any(block["type"] == "text" and not block["text"].strip() for block in blocks)


async def test_calls_of_an_answer_that_broke_off_are_called_off_and_answered(tmp_path: Path) -> None:
    started = asyncio.Event()

    class Waits(Tool[dict[str, Any]]):
        name = "waits"
        input_schema = {"type": "object", "properties": {}}

        async def call(self, input: dict[str, Any], ctx: ToolContext, progress: Progress) -> ToolResult:
            started.set()
            await asyncio.Event().wait()
            return ToolResult("never")

    class Breaks(Provider):
        async def stream(self, request: ModelRequest) -> AsyncIterator[StreamEvent]:
            yield MessageStart("m1", "m")
            yield ToolUse("t1", "waits", {})
            await started.wait()
            raise ProviderError("cut", kind="connection")

    async with asyncio.timeout(20), fake_session(tmp_path, Breaks(), Waits()) as session:
        events = await run(session)

    assert result_of(events).terminal_reason == "model_error"
    assert "discarded" in texts(events)["t1"]


async def test_a_prompt_that_is_too_long_has_an_end_of_its_own(tmp_path: Path) -> None:
    async with fake_session(tmp_path, FakeModel(PromptTooLong("too long"))) as session:
        assert result_of(await run(session)).terminal_reason == "prompt_too_long"


@pytest.mark.parametrize("failure", [KeyError("bug"), SystemExit(4), RuntimeError("bug")])
async def test_a_provider_with_a_bug_is_a_model_error_and_costs_nothing_of_the_conversation(
    tmp_path: Path, failure: BaseException
) -> None:
    class Buggy(Provider):
        seen: list[ModelRequest]

        async def stream(self, request: ModelRequest) -> AsyncIterator[StreamEvent]:
            self.seen.append(request)
            yield MessageStart("m1", "m")
            if len(self.seen) == 1:
                yield ToolUse("t1", "echo", {"text": "kept"})
                yield Stop("tool_use")
            elif len(self.seen) == 2:
                raise failure
            else:
                yield TextDelta("fine")
                yield Stop("end_turn")

    model = Buggy(seen=[])
    async with fake_session(tmp_path, model, echo) as session:
        failed = result_of(await run(session))
        assert result_of(await run(session)).text == "fine"

    assert failed.terminal_reason == "model_error"
    assert "kept" in str(model.seen[2].messages)
    assert_sound(model.seen[2])


async def test_an_answer_that_ends_without_a_stop_is_an_error(tmp_path: Path) -> None:
    class Silent(Provider):
        async def stream(self, request: ModelRequest) -> AsyncIterator[StreamEvent]:
            yield TextDelta("Half")

    async with fake_session(tmp_path, Silent()) as session:
        result = result_of(await run(session))

    assert result.terminal_reason == "model_error"
    assert "without a stop reason" in result.text


@pytest.mark.requirement("loop.stop_hook_bound")
async def test_stop_hooks_keep_the_model_going_at_most_eight_times_in_a_row(tmp_path: Path) -> None:
    heard: list[bool] = []

    def more(event: StopEvent) -> BlockOutcome:
        heard.append(event.stop_hook_active)
        return BlockOutcome(block=True, reason="not yet")

    model = FakeModel(*["Done."] * 20)
    async with fake_session(tmp_path, model, listen(on.stop, more)) as session:
        events = await run(session)

    assert (result_of(events).terminal_reason, len(model.requests)) == ("completed", 9)
    assert heard == [False, *[True] * 7]
    assert any("8 times" in notice.text for notice in of_type(events, Notice))
    assert [m.synthetic for m in of_type(events, UserMessage)] == [True] * 8


async def test_a_tool_call_between_ends_the_row_of_stop_blocks(tmp_path: Path) -> None:
    model = FakeModel(*[piece for n in range(12) for piece in ("Done.", call(f"t{n}"))], "End.")
    blocks = iter([True] * 12 + [False] * 9)

    def more(event: StopEvent) -> BlockOutcome:
        return BlockOutcome(block=next(blocks), reason="more")

    async with fake_session(tmp_path, model, echo, listen(on.stop, more)) as session:
        assert result_of(await run(session)).turns == 25


async def test_a_stop_hook_may_end_the_turn_for_good(tmp_path: Path) -> None:
    ends = listen(on.stop, lambda event: BlockOutcome(stop=True, stop_reason="hands off", block=True, reason="more"))
    async with fake_session(tmp_path, FakeModel("Done."), ends) as session:
        events = await run(session)

    assert result_of(events).terminal_reason == "stop_hook_prevented"
    assert "hands off" in "".join(notice.text for notice in of_type(events, Notice))


async def test_the_reason_of_a_stop_hook_reaches_the_model(tmp_path: Path) -> None:
    answers = iter([BlockOutcome(block=True, reason="run the tests"), None])
    model = FakeModel("Done.", "Tests pass.")
    async with fake_session(tmp_path, model, listen(on.stop, lambda event: next(answers))) as session:
        assert result_of(await run(session)).text == "Tests pass."

    assert model.requests[1].last_text == "run the tests"


async def test_a_stop_hook_that_fails_lets_the_turn_end(tmp_path: Path) -> None:
    def broken(event: StopEvent) -> None:
        raise RuntimeError("hook bug")

    async with fake_session(tmp_path, FakeModel("Done."), listen(on.stop, broken)) as session:
        assert result_of(await run(session)).terminal_reason == "completed"


async def test_the_limit_of_turns_holds_for_stop_hooks_too(tmp_path: Path) -> None:
    more = listen(on.stop, lambda event: BlockOutcome(block=True, reason="more"))
    async with fake_session(tmp_path, FakeModel(*["Done."] * 9), more, max_turns=3) as session:
        assert result_of(await run(session)).terminal_reason == "max_turns"


@pytest.mark.parametrize("fails", [True, False])
async def test_a_hook_before_the_request_may_end_the_turn_and_the_person_reads_why(tmp_path: Path, fails: bool) -> None:
    def hook(event: BeforeModel) -> BeforeModelOutcome:
        if fails:
            raise RuntimeError("over quota")
        return BeforeModelOutcome(block=True, reason="over quota")

    model = FakeModel("Never.")
    async with fake_session(tmp_path, model, listen(on.before_model, hook)) as session:
        events = await run(session)

    assert (result_of(events).terminal_reason, model.requests) == ("hook_stopped", [])
    assert "over quota" in "".join(notice.text for notice in of_type(events, Notice))


async def test_a_hook_may_change_the_request(tmp_path: Path) -> None:
    from dataclasses import replace

    def hook(event: BeforeModel) -> BeforeModelOutcome:
        return BeforeModelOutcome(request=replace(event.request, max_tokens=77))

    model = FakeModel("Hello.")
    async with fake_session(tmp_path, model, listen(on.before_model, hook)) as session:
        await run(session)

    assert model.requests[0].max_tokens == 77


@pytest.mark.parametrize("fails", [True, False])
async def test_a_prompt_that_a_hook_blocks_is_neither_sent_nor_kept(tmp_path: Path, fails: bool) -> None:
    def hook(event: Any) -> UserPromptSubmitOutcome | None:
        if event.prompt != "my secret":
            return None
        if fails:
            raise RuntimeError("no secrets")
        return UserPromptSubmitOutcome(block=True, reason="no secrets")

    model = FakeModel("Hello.")
    async with fake_session(tmp_path, model, listen(on.user_prompt_submit, hook)) as session:
        events = await run(session, "my secret")
        await run(session, "hi")

    assert result_of(events).terminal_reason == "hook_stopped"
    assert "no secrets" in result_of(events).text
    assert "secret" not in str(model.requests[0].messages)
    (file,) = (tmp_path / "state").glob("projects/*/*.jsonl")
    assert "my secret" not in file.read_text()


async def test_two_calls_with_one_id_get_ids_of_their_own_and_both_run(tmp_path: Path) -> None:
    model = FakeModel([call("same", "a"), call("same", "b"), call("same", "c")], "Done.")
    async with fake_session(tmp_path, model, echo) as session:
        events = await run(session)

    assert sorted(texts(events).values()) == ["a", "b", "c"]
    assert_sound(model.requests[1])
    assert len(set(texts(events))) == 3


async def test_an_id_that_an_earlier_answer_had_is_made_unique(tmp_path: Path) -> None:
    model = FakeModel(call("call_0", "a"), call("call_0", "b"), "Done.")
    async with fake_session(tmp_path, model, echo) as session:
        await run(session)

    ids = [b["id"] for m in model.requests[2].messages for b in m["content"] if b["type"] == "tool_use"]  # type: ignore[index, typeddict-item]
    assert len(set(ids)) == 2
    assert_sound(model.requests[2])


async def test_one_bad_call_costs_its_siblings_nothing(tmp_path: Path) -> None:
    bad = [
        ToolUse("t1", "echo", {}, '{"text": '),
        ToolUse("t2", "echo", {}, '["a", "b"]'),
        ToolUse("t3", "Teleport", {"to": "Mars"}),
        ToolUse("t4", "echo", {}),
    ]
    model = FakeModel([*bad, call("t5", "fine"), call("t5", "also")], "Done.")
    async with fake_session(tmp_path, model, echo) as session:
        events = await run(session)

    assert result_of(events).terminal_reason == "completed"
    assert_sound(model.requests[1])
    results: Any = model.requests[1].messages[2]["content"]
    assert [bool(block.get("is_error")) for block in results] == [True] * 4 + [False] * 2
    assert all(isinstance(b["input"], dict) for b in model.requests[1].messages[1]["content"])  # type: ignore[index, typeddict-item]


async def test_a_paused_turn_goes_on_without_a_word_of_the_user(tmp_path: Path) -> None:
    model = FakeModel(["Searching", Stop("pause_turn")], "Found.")
    async with fake_session(tmp_path, model) as session:
        result = result_of(await run(session))

    assert (result.text, result.turns) == ("Found.", 2)
    assert model.requests[1].messages[-1]["role"] == "assistant"


@pytest.mark.parametrize("pieces", [[Stop("end_turn")], ["", Stop("end_turn")], [" \n", Stop("end_turn")]])
async def test_an_empty_answer_completes_and_the_next_prompt_is_sound(tmp_path: Path, pieces: list[Any]) -> None:
    model = FakeModel(pieces, "Hello.")
    async with fake_session(tmp_path, model) as session:
        assert result_of(await run(session, "a")).terminal_reason == "completed"
        assert result_of(await run(session, "b")).text == "Hello."

    assert_sound(model.requests[1])


async def test_blocks_of_an_unknown_kind_and_thinking_go_back_as_they_came(tmp_path: Path) -> None:
    odd = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"q": "é"}, "new": [1, None]}
    thought = {"type": "thinking", "thinking": "hm  ", "signature": "sig"}
    hidden = {"type": "redacted_thinking", "data": "xyz"}
    model = FakeModel([Block(thought), Block(hidden), Block(odd), call()], "Done.")
    async with fake_session(tmp_path, model, echo) as session:
        await run(session)

    assert model.requests[1].messages[1]["content"][:3] == [thought, hidden, odd]


async def test_thinking_that_nothing_followed_is_not_sent_back_at_the_end_of_an_answer(tmp_path: Path) -> None:
    thought = {"type": "thinking", "thinking": "hm", "signature": "sig"}
    model = FakeModel(
        ["So", Block({"type": "text", "text": "So"}), Block(thought), ProviderError("cut")],
        [Block(thought), Stop("max_tokens")],
        "Hello.",
    )
    async with fake_session(tmp_path, model) as session:
        await run(session, "a")
        await run(session, "b")
        await run(session, "c")

    assert_sound(model.requests[1])
    assert_sound(model.requests[2])


async def test_text_is_streamed_as_it_comes_and_told_once_as_a_whole(tmp_path: Path) -> None:
    model = FakeModel(["Hel", "lo.", Block({"type": "text", "text": "Hello."})])
    async with fake_session(tmp_path, model) as session:
        events = await run(session)

    deltas = [e.event.text for e in of_type(events, Streaming) if isinstance(e.event, TextDelta)]
    whole = [message.message["content"] for message in of_type(events, AssistantMessage)]
    assert (deltas, whole) == (["Hel", "lo."], [[{"type": "text", "text": "Hello."}]])


async def test_results_of_an_answer_stand_in_one_message_in_the_order_of_the_calls(tmp_path: Path) -> None:
    model = FakeModel([call(f"t{n}", f"r{n}") for n in range(12)], "Done.")
    async with fake_session(tmp_path, model, echo) as session:
        await run(session)

    content: Any = model.requests[1].messages[2]["content"]
    assert [(block["tool_use_id"], block["content"]) for block in content] == [(f"t{n}", f"r{n}") for n in range(12)]


async def test_messages_that_a_result_brings_stand_behind_all_results(tmp_path: Path) -> None:
    @tool(concurrency_safe=True)
    async def loads(text: str) -> ToolResult:
        """Load."""
        return ToolResult(text, new_messages=[{"role": "user", "content": [{"type": "text", "text": f"more {text}"}]}])

    uses = [ToolUse(f"t{n}", "loads", {"text": str(n)}) for n in range(2)]
    model = FakeModel(uses, "Done.")
    async with fake_session(tmp_path, model, loads) as session:
        await run(session)

    assert_sound(model.requests[1])
    content: Any = model.requests[1].messages[2]["content"]
    assert [block["type"] for block in content] == ["tool_result", "tool_result", "text", "text"]


@pytest.mark.requirement("results.message_cap")
async def test_the_results_of_one_message_together_are_bounded(tmp_path: Path) -> None:
    model = FakeModel([call(f"t{n}", str(n) * 90_000) for n in range(4)], "Done.")
    async with fake_session(tmp_path, model, echo) as session:
        await run(session)

    content: Any = model.requests[1].messages[2]["content"]
    assert sum(len(block["content"]) for block in content) <= 200_000


async def test_what_is_sent_never_changes_in_later_requests(tmp_path: Path) -> None:
    import copy

    copies: list[Any] = []

    class Keeps(FakeModel):
        async def stream(self, request: ModelRequest) -> AsyncIterator[StreamEvent]:
            copies.append(copy.deepcopy(list(request.messages)))
            async for event in super().stream(request):
                yield event

    model = Keeps([call("t1"), call("t2")], call("t3"), "Done.", "Again.")
    async with fake_session(tmp_path, model, echo) as session:
        await run(session, "one")
        await run(session, "two")

    assert [list(request.messages) for request in model.requests] == copies
    for earlier, later in zip(model.requests, model.requests[1:], strict=False):
        assert list(later.messages[: len(earlier.messages)]) == list(earlier.messages)
        assert (later.system, later.tools) == (earlier.system, earlier.tools)


async def test_usage_and_dollars_are_added_up(tmp_path: Path) -> None:
    async with fake_session(tmp_path, Priced(call(), "Done."), echo) as session:
        result = result_of(await run(session))
        (line,) = session.costs()

    assert line.requests == 2
    assert line.dollars == pytest.approx(2.0)
    assert result.cost_usd == pytest.approx(2.0)
    assert result.usage == Usage(input_tokens=20_000)


@pytest.mark.requirement("loop.named_ends")
@pytest.mark.requirement("loop.one_final_event")
async def test_every_end_that_a_run_came_to_here_is_a_named_one_and_told_once(tmp_path: Path) -> None:
    bad: list[Any] = [ProviderError("x"), PromptTooLong("x"), [Stop("refusal")], ["cut", Stop("max_tokens")], "fine"]
    seen = set()
    async with fake_session(tmp_path, FakeModel(*bad)) as session:
        for _ in range(6):
            seen.add(result_of(await run(session)).terminal_reason)

    assert seen <= {str(reason) for reason in StopReason}
    assert len(seen) == 3


async def test_a_second_prompt_while_one_runs_is_refused_and_the_first_goes_on(tmp_path: Path) -> None:
    from toolpost import SessionError

    @dataclass
    class Gate:
        reached: asyncio.Event
        opened: asyncio.Event

    gate = Gate(asyncio.Event(), asyncio.Event())

    class Waits(Provider):
        async def stream(self, request: ModelRequest) -> AsyncIterator[StreamEvent]:
            gate.reached.set()
            await gate.opened.wait()
            yield TextDelta("one")
            yield Stop("end_turn")

    async with asyncio.timeout(20), fake_session(tmp_path, Waits(), AllowAll()) as session:
        first = asyncio.ensure_future(run(session, "one"))
        await gate.reached.wait()
        with pytest.raises(SessionError, match="running"):
            await run(session, "two")
        gate.opened.set()
        assert result_of(await first).text == "one"
