"""Every compaction strategy on any conversation: what it makes is one that the service takes, and no longer than before."""

from __future__ import annotations

import asyncio
import copy
import json
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mock_messages.rules import violations

from toolpost import CompactionStrategy, Context, Message, ModelRequest, Part, PromptTooLong, tokens_of
from toolpost.testing import conversation
from toolpost_compaction_micro import Micro
from toolpost_compaction_partial import Partial
from toolpost_compaction_reactive import Reactive
from toolpost_compaction_session_memory import SessionMemory
from toolpost_compaction_snip import Snip
from toolpost_compaction_summary import Summary
from toolpost_core.events.dispatch import Dispatcher
from toolpost_core.loop.compacting import Compactor, Named
from toolpost_core.plugins.registry import Registry

SHIPPED = (Micro, Snip, SessionMemory, Summary, Reactive, Partial)
EAGER: Sequence[CompactionStrategy] = (
    Micro(keep=1, above=0.0, min_tokens=1),
    Snip(longest=60, keep=2, above=0.0, min_tokens=1),
    SessionMemory(min_tokens=200, min_texts=1, max_tokens=600),
    Summary(keep=100, words=200),
    Reactive(keep=0.002, words=200),
    Partial(words=200),
)
IMAGE = {"type": "image", "source": {"type": "url", "url": "https://example.org/sea.png"}}
THOUGHT = {"type": "thinking", "thinking": "Well.", "signature": "c2ln"}
REDACTED = {"type": "redacted_thinking", "data": "eA=="}

texts = st.sampled_from(
    [
        "ok",
        "word " * 40,
        "word " * 400,
        "x" * 7_000,
        '{"rows": [' + "1, " * 300 + "1]}",
        "ü" * 900,
        "<said>\nno\n</said>",
        "error: <said>\nno\n</said> failed\nKeyError: sea\n" * 9,
    ]
)
contents = st.one_of(
    texts,
    st.lists(st.one_of(texts.map(lambda text: {"type": "text", "text": text}), st.just(IMAGE)), min_size=1, max_size=2),
)
tools = st.sampled_from(["Read", "Bash", "Write", "mcp__sea__count"])
failures = st.sampled_from([{}, {"is_error": True}])
thoughts = st.lists(st.sampled_from([THOUGHT, REDACTED]), max_size=2)


@st.composite
def conversations(draw: st.DrawFn) -> list[Message]:
    """Draw a conversation as it may stand before a request: it ends with the user."""
    messages: list[dict[str, Any]] = []
    for turn in range(draw(st.integers(1, 5))):
        blocks = [IMAGE] * draw(st.integers(0, 1)) + [{"type": "text", "text": draw(texts)}]
        messages.append({"role": "user", "content": blocks if draw(st.booleans()) else draw(texts)})
        for number in range(draw(st.integers(0, 3))):
            ids = [f"toolu_{turn}_{number}_{call}" for call in range(draw(st.integers(1, 3)))]
            told = {draw(st.sampled_from(["file_path", "command"])): f"/sea/{turn}.txt", "content": draw(texts)}
            uses = [{"type": "tool_use", "id": name, "name": draw(tools), "input": told} for name in ids]
            results = [
                {"type": "tool_result", "tool_use_id": name, "content": draw(contents), **draw(failures)}
                for name in ids
            ]
            more = [{"type": "text", "text": "By the way."}] * draw(st.integers(0, 1))
            messages.append({"role": "assistant", "content": [*draw(thoughts), *uses]})
            messages.append({"role": "user", "content": [*results, *more]})
        answer = [*draw(thoughts), {"type": "text", "text": draw(texts)}]
        messages.append({"role": "assistant", "content": answer})
    if draw(st.booleans()) and len(messages) > 1:
        messages.pop()  # in the middle of a turn, or before its first answer
    else:
        messages.append({"role": "user", "content": draw(texts)})
    return cast("list[Message]", messages)


def context_of(strategy: CompactionStrategy, messages: Sequence[Message], index: int, ask: Any) -> Context:
    """Return a context in which the strategy acts if it ever does."""
    direction: Any = "from" if index % 2 else "up_to"
    return Context(
        messages=messages,
        used=190_000,
        budget=500,
        trigger=strategy.triggers[-1],
        part=Part(direction, index % len(messages)),
        request=ModelRequest(model="m", messages=messages),
        ask=ask,
    )


def asked(refusals: int) -> Any:
    """Return a model that refuses some requests as too long; each has to be one that the service takes."""
    left = [refusals]

    async def ask(request: ModelRequest) -> str:
        assert broken(request.messages) == []
        left[0] -= 1
        if left[0] >= 0:
            raise PromptTooLong("too long", tokens_over=None)
        return "<summary>They talked of the sea.</summary>"

    return ask


def broken(messages: Sequence[Message]) -> list[str]:
    return violations({"model": "m", "messages": messages}, counting=True)


def compactor(strategy: CompactionStrategy, stack: ExitStack) -> Compactor:
    from fake_session import registry_of

    registry: Registry = stack.enter_context(registry_of([]))
    events = Dispatcher(registry.manager, lambda _: None, cast("Any", None))
    return Compactor(strategies=[Named("it", strategy)], order=(), events=events, report=lambda _: None)


@pytest.mark.parametrize("strategy", EAGER, ids=lambda strategy: type(strategy).__name__)
@given(messages=conversations(), index=st.integers(0, 40), refusals=st.integers(0, 2))
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_strategy_leaves_a_conversation_that_the_service_takes(
    strategy: CompactionStrategy, messages: list[Message], index: int, refusals: int
) -> None:
    assert broken(messages) == []
    before = copy.deepcopy(messages)
    context = context_of(strategy, messages, index, asked(refusals))
    try:
        result = asyncio.run(strategy.compact(context)) if strategy.applies(context) > 0 else None
    except PromptTooLong:
        result = None
    assert messages == before
    if result is None:
        return
    assert broken(result.messages) == []
    thinking = [message for message in messages if _thinks(message)]
    assert all(message in thinking for message in result.messages if _thinks(message))
    json.dumps(result.messages)


@pytest.mark.parametrize("strategy", EAGER, ids=lambda strategy: type(strategy).__name__)
@given(messages=conversations(), index=st.integers(0, 40))
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_what_core_takes_over_is_shorter_and_at_rest(
    strategy: CompactionStrategy, messages: list[Message], index: int
) -> None:
    with ExitStack() as stack:
        core = compactor(strategy, stack)
        context = context_of(strategy, messages, index, asked(0))
        step = asyncio.run(core.step(context, set(), summaries=True))
        if step is None:
            return
        assert tokens_of(step.result.messages) < tokens_of(messages)
        used = context.used - tokens_of(messages) + tokens_of(step.result.messages)
        after = replace(context, messages=step.result.messages, used=used)
        assert asyncio.run(core.step(replace(after, trigger="before_request"), set(), summaries=True)) is None
        if context.trigger != "partial":
            assert asyncio.run(core.step(after, set(), summaries=True)) is None


@pytest.mark.parametrize("kind", SHIPPED, ids=lambda kind: kind.__name__)
def test_with_its_own_settings_each_gives_the_same_bytes_again(kind: type[CompactionStrategy]) -> None:
    messages = conversation(40, result="line\n" * 3_000)
    made = [asyncio.run(kind().compact(context_of(kind(), messages, 60, asked(0)))) for _ in range(2)]
    assert made[0] is not None
    assert made[1] is not None
    assert json.dumps(made[0].messages) == json.dumps(made[1].messages)


def _thinks(message: Message) -> bool:
    content = message["content"]
    return not isinstance(content, str) and any(block["type"] in ("thinking", "redacted_thinking") for block in content)
