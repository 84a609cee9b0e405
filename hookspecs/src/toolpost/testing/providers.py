"""The contract kit of providers."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, aclosing, nullcontext, suppress
from typing import Any, ClassVar, cast

import pytest

from toolpost.errors import ProviderError
from toolpost.messages import Message
from toolpost.providers import (
    InputDelta,
    MessageStart,
    ModelRequest,
    Provider,
    Retrying,
    Stop,
    StreamEvent,
    TextDelta,
    ThinkingDelta,
    ToolUse,
    Usage,
)
from toolpost.testing._contract import PluginContract, finish

_REASONS = {
    "end_turn",
    "tool_use",
    "max_tokens",
    "stop_sequence",
    "refusal",
    "pause_turn",
    "model_context_window_exceeded",
}
_KINDS = {
    "authentication_failed",
    "billing_error",
    "rate_limit",
    "overloaded",
    "invalid_request",
    "model_not_found",
    "server_error",
    "connection",
    "timeout",
    "unknown",
}


class ProviderContract(PluginContract):
    """The suite for a provider.

    Override `serving` where the provider needs something to talk to: it yields the provider, ready to answer
    `messages`. A provider of a real service overrides `cut_up` and `failing` too, with what it recorded of the service.
    """

    group = "providers"
    messages: ClassVar[Sequence[Message]] = ({"role": "user", "content": "Say hello."},)

    def serving(self) -> AbstractAsyncContextManager[Provider]:
        """Return a context in which the provider answers."""
        return nullcontext(cast("Provider", self.make()))

    def cut_up(self, size: int) -> AbstractAsyncContextManager[Provider] | None:
        """Return a context in which an answer with a tool call comes in pieces of `size` bytes; None to leave it out."""
        del size
        return None

    def failing(self) -> AbstractAsyncContextManager[Provider] | None:
        """Return a context in which the service refuses the request for good; None to leave it out."""
        return None

    def test_an_answer_ends_with_its_only_stop(self) -> None:
        """If this fails: yield Stop once, as the last event, with a stop reason of the Messages API."""
        events = finish(self._answer())
        stops = [event for event in events if isinstance(event, Stop)]
        assert len(stops) == 1, f"{len(stops)} Stop events"
        assert events[-1] is stops[0], f"after Stop came {events[-1]!r:.200}"
        assert stops[0].reason in _REASONS

    def test_an_answer_begins_before_it_goes_on(self) -> None:
        """If this fails: MessageStart comes at most once and first; only Retrying may precede it."""
        kinds = [type(event) for event in finish(self._answer())]
        assert kinds.count(MessageStart) <= 1
        begun = [kind for kind in kinds if kind is not Retrying]
        assert MessageStart not in begun[1:], f"MessageStart after {begun[0].__name__}"
        assert Retrying not in kinds[kinds.index(begun[0]) :], "Retrying after the answer began"

    def test_calls_are_complete_and_told_apart(self) -> None:
        """If this fails: a ToolUse has an id of its own, a name and an object as input."""
        calls = [event for event in finish(self._answer()) if isinstance(event, ToolUse)]
        assert len({call.id for call in calls}) == len(calls)
        assert all(call.name and isinstance(call.input, dict) for call in calls)

    def test_usage_is_counted_in_whole_tokens(self) -> None:
        """If this fails: `usage` of MessageStart and Stop is a Usage with no negative number."""
        events = finish(self._answer())
        found = [event.usage for event in events if isinstance(event, MessageStart | Stop) and event.usage is not None]
        assert all(isinstance(usage, Usage) and min(usage) >= 0 for usage in found)

    def test_closing_an_answer_ends_it(self) -> None:
        """If this fails: let GeneratorExit and CancelledError pass, and close the connection in `finally`."""
        finish(self._closed_early())

    def test_cancelling_an_answer_ends_it(self) -> None:
        """If this fails: let CancelledError pass, and close the connection in `finally`, in bounded time."""
        finish(self._cancelled())

    def test_an_answer_is_the_same_however_it_is_cut(self) -> None:
        """If this fails: put bytes together before decoding, and a tool's input before reading it as JSON."""
        whole = self.cut_up(1_000_000)
        if whole is None:
            return
        expected = _kept(finish(self._answer(within=whole)))
        assert any(isinstance(event, ToolUse) for event in expected), "the answer of `cut_up` has no tool call"
        for size in (1, 2, 3, 7, 61):
            assert _kept(finish(self._answer(within=self.cut_up(size)))) == expected, (
                f"cut into {size} bytes it differs"
            )

    def test_a_refusal_of_the_service_is_a_provider_error(self) -> None:
        """If this fails: raise ProviderError with the `kind` that fits, and the service's own words in the message."""
        refusing = self.failing()
        if refusing is None:
            return
        with pytest.raises(ProviderError) as caught:
            finish(self._answer(within=refusing))
        assert str(caught.value).strip(), "the error says nothing"
        assert caught.value.kind in _KINDS, f"{caught.value.kind!r} is no kind of ProviderError"

    def test_the_request_is_left_as_it_was(self) -> None:
        """If this fails: messages are shared with later requests; build the body from copies."""
        messages = copy.deepcopy(list(self.messages))
        finish(self._answer(messages))
        assert messages == list(self.messages)

    def test_its_models_are_described(self) -> None:
        """If this fails: give each model a window and an output limit, and each price its date and source."""
        provider = cast("Provider", self.make())
        models = [*provider.models(), provider.model(provider.default_model), provider.model("no-such-model")]
        assert all(model.id and model.window > 0 and model.max_output > 0 for model in models)
        priced = [model.price for model in models if model.price is not None]
        assert all(price.source and price.as_of.year > 2000 for price in priced), "a price without date and source"

    def test_it_says_what_is_missing_without_raising(self) -> None:
        """If this fails: unusable() and credential_source() answer for an empty environment, without the network."""
        provider = cast("Provider", self.make())
        missing = provider.unusable({})
        assert missing is None or missing.strip(), "an empty text does not say what is missing"
        assert provider.credential_source({})

    async def _answer(
        self, messages: Sequence[Message] | None = None, within: AbstractAsyncContextManager[Provider] | None = None
    ) -> list[StreamEvent]:
        async with within or self.serving() as provider:
            request = self._request(provider, messages or self.messages)
            try:
                return [event async for event in provider.stream(request)]
            finally:
                await request.stash.aclose()

    async def _cancelled(self) -> None:
        begun = asyncio.Event()

        async def read() -> None:
            async with self.serving() as provider:
                request = self._request(provider, self.messages)
                try:
                    async for _ in provider.stream(request):
                        begun.set()
                finally:
                    begun.set()
                    await request.stash.aclose()

        reading = asyncio.create_task(read())
        await begun.wait()
        reading.cancel()
        with suppress(asyncio.CancelledError):
            await reading

    async def _closed_early(self) -> None:
        async with self.serving() as provider:
            request = self._request(provider, self.messages)
            stream = provider.stream(request)
            # An async generator has it; a class of the author's own must too, or nobody could end the request.
            async with aclosing(cast("Any", stream)):
                await anext(stream)
            await request.stash.aclose()

    def _request(self, provider: Provider, messages: Sequence[Message]) -> ModelRequest:
        return ModelRequest(model=provider.model(provider.default_model).id, messages=messages, max_tokens=1000)


def _kept(events: Sequence[StreamEvent]) -> list[object]:
    """Return what stays of an answer: its texts put together, and everything that is not for showing only."""
    kept: list[object] = []
    for event in events:
        if isinstance(event, TextDelta):
            if kept and isinstance(kept[-1], str):
                event = TextDelta(str(kept.pop()) + event.text)
            kept.append(event.text)
        elif not isinstance(event, ThinkingDelta | InputDelta):
            kept.append(event)
    return kept
