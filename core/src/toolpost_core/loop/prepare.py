"""From the state to the next request: compaction strategies in order, then the request."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

import toolpost
from toolpost import on
from toolpost_core.loop.messages import blocks_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from toolpost import CompactionStrategy, Context, Message, ModelInfo, ModelRequest, Stash
    from toolpost_core.events.dispatch import Dispatcher
    from toolpost_core.loop.state import State
    from toolpost_core.loop.turn import Tell

    Ask: TypeAlias = Callable[[ModelRequest], Awaitable[str]]

CHARS_PER_TOKEN = 4


@dataclass(frozen=True)
class Named:
    """A strategy with its plugin's name."""

    plugin: str
    strategy: CompactionStrategy


@dataclass(frozen=True, kw_only=True)
class Preparer:
    """Makes requests. `build` makes one of messages and cache breakpoints; `report` gets what failed.

    `stash` returns the session's, where a strategy keeps what it did. `restart` tells listeners that the conversation
    begins anew from a summary, and returns texts for the model.
    """

    strategies: Sequence[Named]
    build: Callable[[Sequence[Message], Sequence[int]], ModelRequest]
    model: Callable[[], ModelInfo]
    idle: Callable[[], float]
    stash: Callable[[], Stash]
    events: Dispatcher
    restart: Callable[[], Awaitable[Sequence[str]]]
    report: Callable[[str], None]

    async def __call__(self, state: State, ask: Ask, tell: Tell) -> tuple[State, ModelRequest | None]:
        """Return the state as it will be sent, and the request; None where a listener ends the turn.

        `ask` sends a strategy's own requests, `tell` puts texts for the model at the end of a state.
        """
        state = await self._compacted(state, ask, tell)
        # The end of the last request's messages and of this one's: what that wrote to the cache, this one reads.
        last = len(state.messages) - 1
        marks = tuple(sorted({*(mark for mark in state.breakpoints[-1:] if 0 <= mark < last), last}))
        state = replace(state, breakpoints=marks)
        request = self.build(state.messages, marks)
        if not self.events.hears("before_model"):
            return state, request
        from toolpost.events.turn import BeforeModel

        emission = await self.events.emit(on.before_model, BeforeModel(request=request))
        outcome = emission.outcome
        if emission.failure is not None or (outcome is not None and (outcome.block or outcome.stop)):
            reason = (outcome.reason or outcome.stop_reason) if outcome is not None else ""
            if reason:
                self.report(f"A BeforeModel hook ended the turn: {reason}")
            return state, None
        return state, outcome.request if outcome is not None and outcome.request is not None else request

    async def _compacted(self, state: State, ask: Ask, tell: Tell) -> State:
        if not self.strategies:
            return state
        used = state.used + _estimate(_since_answer(state.messages)) if state.used else _estimate(state.messages)
        for named in self.strategies:
            context = toolpost.Context(
                messages=state.messages,
                used=used,
                window=self.model().window,
                idle=self.idle(),
                ask=ask,
                stash=self.stash(),
            )
            try:
                messages = await self._shortened(named.strategy, context)
            except toolpost.Aborted:
                return state
            except Exception as error:
                self.report(f"The compaction strategy {named.plugin!r} failed and was passed over: {error!r}")
                continue
            if messages is None:
                continue
            state = replace(state, messages=tuple(messages), used=_estimate(messages))
            if named.strategy.summarizes:
                state = tell(state, await self.restart())
            used = _estimate(state.messages)
        return state

    async def _shortened(self, strategy: CompactionStrategy, context: Context) -> Sequence[Message] | None:
        """Let a strategy do its work; round one that summarizes, listeners are told."""
        if not strategy.summarizes:
            return await strategy.compact(context)
        if not strategy.due(context):
            return None
        from toolpost_core.loop.summaries import after, before

        allowed = await before(self.events, context, self.report)
        messages = await strategy.compact(allowed) if allowed is not None else None
        if messages is not None:
            await after(self.events, context, messages)
        return messages


def _since_answer(messages: Sequence[Message]) -> Sequence[Message]:
    """Return what came after the model's last answer: results of its calls, and what the person wrote."""
    answers = [index for index, message in enumerate(messages) if message["role"] == "assistant"]
    return messages[answers[-1] + 1 :] if answers else messages


def _estimate(messages: Sequence[Message]) -> int:
    return sum(len(str(block)) for message in messages for block in blocks_of(message)) // CHARS_PER_TOKEN
