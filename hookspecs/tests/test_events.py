"""Events: what their decorators mark, and how answers merge."""

from __future__ import annotations

import inspect
import re
from types import MethodType
from typing import Any

import pytest

from toolpost import BlockOutcome, Event, PostToolUse, PreToolUse, PreToolUseOutcome, StopEvent, on
from toolpost._hooks import options_of
from toolpost.testing.lifecycle import bare, types_of

EVENTS: list[Event[Any, Any]] = [getattr(on, name) for name in on.__all__]


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: event.title)
def test_the_contract_of_an_event_answers_the_five_questions(event: Event[Any, Any]) -> None:
    text = inspect.getdoc(event.spec) or ""
    questions = ["When:", "How often:", "Answer( and merge)?:", "Failure:"]
    if event.kind == "decide":
        questions.append("[Mm]erge:")
    assert [question for question in questions if not re.search(question, text)] == []


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: event.title)
def test_the_only_parameter_of_a_spec_is_called_event_and_has_the_events_type(event: Event[Any, Any]) -> None:
    assert list(inspect.signature(event.spec).parameters) == ["event"]
    argument, _ = types_of(event)
    assert isinstance(bare(argument), argument)


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: event.title)
def test_one_answer_alone_merges_to_itself(event: Event[Any, Any]) -> None:
    _, outcome = types_of(event)
    answer = outcome(system_message="Look.")
    assert event.merge([answer]) == answer


def test_a_listener_without_options_has_the_events_defaults() -> None:
    @on.stop
    def listener(event: StopEvent) -> None: ...

    assert (options_of(listener).on_failure, options_of(listener).timeout) == (None, None)


def test_a_listener_keeps_its_own_limit_and_failure_rule() -> None:
    @on.pre_tool_use.listener(on_failure="continue", timeout=2.5)
    def listener(event: PreToolUse) -> None: ...

    options = options_of(listener)
    assert (options.on_failure, options.timeout) == ("continue", 2.5)
    assert vars(listener)["toolpost_impl"]["specname"] == "pre_tool_use"


def test_the_options_of_a_bound_method_are_those_of_its_function() -> None:
    @on.stop.listener(timeout=1.0)
    def listener(event: StopEvent) -> None: ...

    assert options_of(MethodType(listener, object())).timeout == 1.0


def test_a_method_keeps_its_limit_as_well() -> None:
    class Plugin:
        @on.stop.listener(timeout=1.0)
        async def listener(self, event: StopEvent) -> None: ...

    assert options_of(Plugin().listener).timeout == 1.0


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: event.title)
def test_a_failure_blocks_where_the_event_decides_something_and_is_refused_elsewhere(event: Event[Any, Any]) -> None:
    if event.kind == "decide":
        assert event.listener(on_failure="block")
        return
    with pytest.raises(ValueError, match=rf"on\.{event.name}\.listener.*{event.title} is observed"):
        event.listener(on_failure="block")


@pytest.mark.parametrize("seconds", [0, -1, float("nan")])
def test_a_time_limit_is_more_than_no_time(seconds: float) -> None:
    with pytest.raises(ValueError, match="above 0"):
        on.stop.listener(timeout=seconds)


@pytest.mark.requirement("events.strictest_wins")
def test_the_strictest_decision_wins_with_its_own_reasons() -> None:
    allow = PreToolUseOutcome(decision="allow", reason="fine", additional_context="one")
    deny = PreToolUseOutcome(decision="deny", reason="never", additional_context="two")
    ask = PreToolUseOutcome(decision="ask", reason="hm")
    merged = on.pre_tool_use.merge([allow, deny, ask])
    assert (merged.decision, merged.reason, merged.additional_context) == ("deny", "never", "one\ntwo")


def test_any_block_blocks_and_its_reason_is_kept() -> None:
    merged = on.stop.merge([BlockOutcome(reason="not this"), BlockOutcome(block=True, reason="tests fail")])
    assert (merged.block, merged.reason) == (True, "tests fail")


def test_a_rewritten_input_is_what_the_next_listener_sees() -> None:
    rewrites = on.pre_tool_use.rewrites
    assert rewrites is not None
    before = PreToolUse(tool_name="Bash", tool_input={"command": "ls"})
    after = rewrites(before, PreToolUseOutcome(updated_input={"command": "ls -l"}))
    assert (after.tool_input, before.tool_input) == ({"command": "ls -l"}, {"command": "ls"})
    assert rewrites(before, PreToolUseOutcome()) is before


def test_an_event_can_not_be_changed() -> None:
    event = PostToolUse(tool_name="Bash")
    with pytest.raises(AttributeError):
        event.tool_name = "Read"  # type: ignore[misc]
