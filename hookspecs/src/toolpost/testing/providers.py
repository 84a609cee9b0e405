"""The contract kit of providers."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, aclosing, nullcontext
from typing import Any, ClassVar, cast

from toolpost.messages import Message
from toolpost.providers import MessageStart, ModelRequest, Provider, Retrying, Stop, StreamEvent, ToolUse, Usage
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


class ProviderContract(PluginContract):
    """The suite for a provider.

    Override `serving` where the provider needs something to talk to: it yields the provider, ready to answer
    `messages`.
    """

    group = "providers"
    messages: ClassVar[Sequence[Message]] = ({"role": "user", "content": "Say hello."},)

    def serving(self) -> AbstractAsyncContextManager[Provider]:
        """Return a context in which the provider answers."""
        return nullcontext(cast("Provider", self.make()))

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

    async def _answer(self, messages: Sequence[Message] | None = None) -> list[StreamEvent]:
        async with self.serving() as provider:
            request = self._request(provider, messages or self.messages)
            try:
                return [event async for event in provider.stream(request)]
            finally:
                await request.stash.aclose()

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
