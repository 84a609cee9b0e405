"""The contract kit of providers."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from typing import ClassVar, cast

import pytest

from toolpost.errors import PromptTooLong, ProviderError
from toolpost.messages import Message
from toolpost.providers import (
    MessageStart,
    ModelRequest,
    Provider,
    Retrying,
    Stop,
    StreamEvent,
    ToolUse,
    ToolUseStart,
    Usage,
)
from toolpost.testing._answers import Stopping, cancel, close, kept
from toolpost.testing._contract import BOUND, PluginContract, finish, quickest

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
    `messages`. A provider of a real service overrides `cut_up`, `hanging` and `failures` too, with what it recorded of the
    service.
    """

    group = "providers"
    messages: ClassVar[Sequence[Message]] = ({"role": "user", "content": "Say hello."},)
    within: ClassVar[float] = 1.0
    """Seconds that an answer may take to its end after it was closed or cancelled."""

    def serving(self) -> AbstractAsyncContextManager[Provider]:
        """Return a context in which the provider answers."""
        return nullcontext(cast("Provider", self.make()))

    def cut_up(self, size: int) -> AbstractAsyncContextManager[Provider] | None:
        """Return a context in which an answer with a tool call comes in pieces of `size` bytes; None to leave it out."""
        del size
        return None

    def hanging(self) -> AbstractAsyncContextManager[tuple[Provider, asyncio.Event]] | None:
        """Return a context in which an answer begins and does not end; None to leave it out.

        The event beside the provider is set by the double of the service once its client has closed the connection.
        """
        return None

    def failures(self) -> Mapping[str, AbstractAsyncContextManager[Provider]]:
        """Return contexts in which the service fails for good, each by the `kind` of ProviderError that it has to become.

        `prompt_too_long` stands for PromptTooLong. The provider in them sends nothing again.
        """
        return {}

    def test_an_answer_ends_with_its_only_stop(self) -> None:
        """If this fails: yield Stop once, as the last event, with a stop reason of the Messages API; the loop goes by it."""
        events = finish(self._answer())
        stops = [event for event in events if isinstance(event, Stop)]
        assert len(stops) == 1, f"{len(stops)} Stop events"
        assert events[-1] is stops[0], f"after Stop came {events[-1]!r:.200}"
        assert stops[0].reason in _REASONS

    def test_an_answer_begins_before_it_goes_on(self) -> None:
        """If this fails: MessageStart comes at most once and first; only Retrying may precede it: nothing is shown yet."""
        kinds = [type(event) for event in finish(self._answer())]
        assert kinds.count(MessageStart) <= 1
        begun = [kind for kind in kinds if kind is not Retrying]
        assert MessageStart not in begun[1:], f"MessageStart after {begun[0].__name__}"
        assert Retrying not in kinds[kinds.index(begun[0]) :], "Retrying after the answer began"

    def test_calls_are_complete_and_told_apart(self) -> None:
        """If this fails: a ToolUse has an id of its own, a name and an object as input: the call is made from it alone."""
        events = finish(self._answer())
        calls = [event for event in events if isinstance(event, ToolUse)]
        assert len({call.id for call in calls}) == len(calls), "two calls have one id"
        assert all(call.name and isinstance(call.input, dict) for call in calls)
        begun = {event.id for event in events if isinstance(event, ToolUseStart)}
        assert begun <= {call.id for call in calls}, "a call that began with ToolUseStart has no ToolUse"

    def test_usage_counts_the_whole_request(self) -> None:
        """If this fails: `usage` of Stop replaces that of MessageStart: count the prompt in it too, nothing below 0."""
        events = finish(self._answer())
        found = [event.usage for event in events if isinstance(event, MessageStart | Stop) and event.usage is not None]
        assert all(isinstance(usage, Usage) and min(usage) >= 0 for usage in found)
        prompts = [usage.prompt_tokens for usage in found]
        assert prompts == sorted(prompts), f"the prompt's tokens become less from event to event: {prompts}"

    def test_closing_an_answer_ends_it(self) -> None:
        """If this fails: let GeneratorExit pass, and clean up in `finally`, in bounded time; a person waits for it."""
        self._called_off(close)

    def test_cancelling_an_answer_ends_it(self) -> None:
        """If this fails: let CancelledError pass, and clean up in `finally`, in bounded time; a person waits for it."""
        self._called_off(cancel)

    def test_an_answer_that_is_called_off_closes_its_connection(self) -> None:
        """If this fails: close the connection in `finally`; the service writes, and charges, until it is closed."""
        for stop in (close, cancel):
            with_a_service = self.hanging()
            if with_a_service is not None:
                finish(self._closes_its_connection(with_a_service, stop))

    def test_an_answer_is_the_same_however_it_is_cut(self) -> None:
        """If this fails: put bytes together before decoding, and a tool's input before reading it as JSON."""
        whole = self.cut_up(1_000_000)
        if whole is None:
            return
        expected = kept(finish(self._answer(within=whole)))
        assert any(isinstance(event, ToolUse) for event in expected), "the answer of `cut_up` has no tool call"
        for size in (1, 2, 3, 7, 61):
            assert kept(finish(self._answer(within=self.cut_up(size)))) == expected, f"cut into {size} bytes it differs"

    def test_a_failure_of_the_service_is_a_provider_error_of_its_kind(self) -> None:
        """If this fails: raise ProviderError with the `kind` that fits and the service's own words; core goes by kind."""
        for kind, failing in self.failures().items():
            assert kind in {*_KINDS, "prompt_too_long"}, f"{kind!r} is no kind of ProviderError"
            with pytest.raises(ProviderError) as caught:
                finish(self._answer(within=failing))
            assert str(caught.value).strip(), f"the error for {kind} says nothing"
            given = "prompt_too_long" if isinstance(caught.value, PromptTooLong) else caught.value.kind
            assert given == kind, f"a failure of the kind {kind} became {given}: {caught.value}"

    def test_the_request_is_left_as_it_was(self) -> None:
        """If this fails: messages are shared with later requests; build the body from copies."""
        messages = copy.deepcopy(list(self.messages))
        finish(self._answer(messages))
        assert messages == list(self.messages)

    def test_sessions_do_not_disturb_one_another(self) -> None:
        """If this fails: keep connections in request.stash, not in the plugin: sessions share it, and close their own."""
        ended, undisturbed = finish(self._two_sessions())
        assert isinstance(ended, Stop)
        assert isinstance(undisturbed, Stop), "an answer broke off as another session ended"

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
            request = self._request(provider, messages)
            try:
                return [event async for event in provider.stream(request)]
            finally:
                await request.stash.aclose()

    def _called_off(self, stop: Stopping) -> None:
        took = quickest(lambda: finish(self._seconds_to_end(stop), within=self.within + BOUND), self.within)
        assert took <= self.within, f"it ended {took:.1f} s after it was called off; {self.within:g} s are allowed"

    async def _seconds_to_end(self, stop: Stopping) -> float:
        async with self._begun() as provider:
            request = self._request(provider)
            try:
                return await stop(provider.stream(request))
            finally:
                await request.stash.aclose()

    @asynccontextmanager
    async def _begun(self) -> AsyncIterator[Provider]:
        with_a_service = self.hanging()
        if with_a_service is None:
            async with self.serving() as provider:
                yield provider
        else:
            async with with_a_service as (provider, _):
                yield provider

    async def _closes_its_connection(
        self, hanging: AbstractAsyncContextManager[tuple[Provider, asyncio.Event]], stop: Stopping
    ) -> None:
        async with hanging as (provider, closed):
            request = self._request(provider)
            try:
                await stop(provider.stream(request))
                # Before the session's end, which closes whatever the provider keeps for it.
                async with asyncio.timeout(self.within):
                    await closed.wait()
            except TimeoutError:
                pytest.fail(f"the connection was still open {self.within:g} s after the answer was called off")
            finally:
                await request.stash.aclose()

    async def _two_sessions(self) -> tuple[StreamEvent, StreamEvent]:
        """Return the last events of an answer that came whole, and of another session's that it came in the middle of."""
        async with self.serving() as provider:
            first, second = self._request(provider), self._request(provider)
            longer = provider.stream(first)
            await anext(longer)
            ended = [event async for event in provider.stream(second)][-1]
            await second.stash.aclose()
            undisturbed = [event async for event in longer][-1]
            await first.stash.aclose()
            return ended, undisturbed

    def _request(self, provider: Provider, messages: Sequence[Message] | None = None) -> ModelRequest:
        model = provider.model(provider.default_model).id
        # Copies, so that a provider that changes them is found by the test of that, whatever ran before it.
        sent = copy.deepcopy(self.messages) if messages is None else messages
        return ModelRequest(model=model, messages=sent, max_tokens=1000)
