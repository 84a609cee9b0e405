"""From the state to the next request: compaction where it is due, then the request."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import toolpost
from toolpost import on
from toolpost._frozen import frozen
from toolpost_core.loop.gauge import gauge_of
from toolpost_core.tools.watched import watched

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Sequence
    from typing import Any

    from toolpost import AbortSignal, Context, Message, ModelRequest, Part, Stash, Trigger
    from toolpost_core.events.dispatch import Dispatcher
    from toolpost_core.loop.compacting import Compactor, Named, Step
    from toolpost_core.loop.gauge import Gauge
    from toolpost_core.loop.state import Full, State
    from toolpost_core.loop.thresholds import Policy, Thresholds
    from toolpost_core.loop.turn import Tell

    Ask: TypeAlias = Callable[[ModelRequest], Awaitable[str]]


@frozen(kw_only=True)
class Preparer:
    """Makes requests. `build` makes one of messages and cache breakpoints; `report` gets what failed, `report_once`
    what is so for the whole session.

    `strategies` is asked for once there is a conversation. `stash` returns the session's, where a strategy keeps what it
    did, and `said` its prompts. `record` keeps a change, and the tokens that it left, for who resumes; it returns the
    messages as they are then read. `restart` tells listeners that the conversation goes on from a summary, and returns
    texts for the model. `count` asks the service, and returns None where it can't tell. Listeners end with the `abort` in
    force: nobody has a use for their answers then.
    """

    strategies: Callable[[], Sequence[Named]]
    build: Callable[[Sequence[Message], Sequence[int]], ModelRequest]
    thresholds: Callable[[], Thresholds]
    policy: Policy
    idle: Callable[[], float]
    stash: Callable[[], Stash]
    said: Callable[[], Sequence[str] | None]
    events: Dispatcher
    abort: Callable[[], AbortSignal]
    record: Callable[[Step, int], tuple[Message, ...]]
    restart: Callable[[Step], Coroutine[Any, Any, Sequence[str]]]
    count: Callable[[ModelRequest], Awaitable[int | None]]
    report: Callable[[str], None]
    report_once: Callable[[str], None]

    async def __call__(self, state: State, ask: Ask, tell: Tell) -> tuple[State, ModelRequest | None]:
        """Return the state as it will be sent, and the request; None where a listener ends the turn, or it is `full`.

        `ask` sends a strategy's own requests, `tell` puts texts for the model at the end of a state.
        """
        state, request = self._request(await self._compacted(state, ask, tell))
        full = await self._full(state, request)
        if full is not None and (shorter := await self.shorten(state, ask, tell, "prompt_too_long")) is not None:
            state, request = self._request(shorter)
            full = await self._full(state, request)
        if full is not None:
            return replace(state, full=full), None
        self.gauge.asked(request, state.used)
        return await self._heard(state, request)

    async def shorten(
        self,
        state: State,
        ask: Ask,
        tell: Tell,
        trigger: Trigger,
        *,
        instructions: str = "",
        part: Part | None = None,
        summaries: bool = True,
    ) -> State | None:
        """Compact the conversation because of `trigger`; None where no strategy could make it shorter.

        `instructions` are a person's words on what matters, `part` what they chose of it. Without `summaries` only
        strategies act that do not summarize.
        """
        if not self.policy.compact or (trigger == "prompt_too_long" and not self.policy.auto):
            return None
        context = replace(self._context(state, ask, trigger), instructions=instructions, part=part)
        shorter = await self._shortened(state, context, tell, summaries=summaries)
        return shorter if shorter is not state else None

    @property
    def gauge(self) -> Gauge:
        """The measure of the session."""
        return gauge_of(self.stash())

    def _request(self, state: State) -> tuple[State, ModelRequest]:
        # The end of the last request's messages and of this one's: what that wrote to the cache, this one reads.
        last = len(state.messages) - 1
        marks = tuple(sorted({*(mark for mark in state.breakpoints[-1:] if 0 <= mark < last), last}))
        return replace(state, breakpoints=marks), self._built(state.messages, marks)

    def _built(self, messages: Sequence[Message], marks: Sequence[int]) -> ModelRequest:
        """Make a request, and let the gauge see what it has beside its messages: a resumed session is not told that."""
        request = self.build(messages, marks)
        self.gauge.measured(request)
        return request

    async def _heard(self, state: State, request: ModelRequest) -> tuple[State, ModelRequest | None]:
        if not self.events.hears("before_model"):
            return state, request
        from toolpost.events.turn import BeforeModel

        emission = await watched(self.events.emit(on.before_model, BeforeModel(request=request)), self.abort())
        outcome = emission.outcome
        if emission.failure is not None or (outcome is not None and (outcome.block or outcome.stop)):
            reason = (outcome.reason or outcome.stop_reason) if outcome is not None else ""
            if reason:
                self.report(f"A BeforeModel hook ended the turn: {reason}")
            return state, None
        return state, outcome.request if outcome is not None and outcome.request is not None else request

    async def _full(self, state: State, request: ModelRequest) -> Full | None:
        """Say that a request can't be sent, as it would not fit; None where it can."""
        limits = self.thresholds()
        used = self.gauge.used(state.messages, state.used)
        if used < limits.blocking:
            return None
        if state.used < limits.blocking:  # what is new tips the scale, and that is only estimated
            used = await self._counted(request)
        if used < limits.blocking:
            return None
        from toolpost_core.loop.full import does_not_fit

        return does_not_fit(request, used, limits.effective)

    async def _counted(self, request: ModelRequest) -> int:
        """Return what the service counts, 0 where it can't: it then decides for itself whether the request fits."""
        try:
            return await self.count(request) or 0
        except toolpost.ProviderError as error:
            self.report(f"The tokens of the request could not be counted: {error}")
            return 0

    async def _compacted(self, state: State, ask: Ask, tell: Tell) -> State:
        """Let strategies look at the conversation, as they may before each request."""
        if len(state.messages) < 2 or not self._strategies:
            return state
        context = self._context(state, ask, "before_request")
        if context.used >= self.thresholds().auto and self.policy.auto and self.policy.compact:
            context = replace(context, trigger="auto")
        state = await self._shortened(state, context, tell)
        self._warn(self.gauge.used(state.messages, state.used))
        return state

    async def _shortened(self, state: State, context: Context, tell: Tell, *, summaries: bool = True) -> State:
        done: set[str] = set()
        summarized = not (self.policy.compact and summaries)
        try:
            while (step := await self._compactor.step(context, done, summaries=not summarized)) is not None:
                state = self._taken_over(state, step)
                if step.named.strategy.summarizes:
                    summarized = True
                    # The transcript has the change: it must not be lost while a listener takes its time to end.
                    state = tell(state, await watched(self.restart(step), self.abort(), patience=0.0))
                context = self._after(context, state)
        except toolpost.Aborted:
            pass
        return state

    def _taken_over(self, state: State, step: Step) -> State:
        known = self.gauge.changed(step.before.messages, step.result.messages, step.before.scale)
        messages = self.record(step, self.gauge.used(step.result.messages, known))
        same_places = len(messages) == len(state.messages)
        self.gauge.warned = False
        return replace(state, messages=messages, used=known, breakpoints=state.breakpoints if same_places else ())

    def _after(self, context: Context, state: State) -> Context:
        """Return the context of the strategies that come after; where there is room again, nothing is urgent any more."""
        used = self.gauge.used(state.messages, state.used)
        urgent = context.trigger != "auto" or used >= self.thresholds().auto
        return replace(
            context, messages=state.messages, used=used, trigger=context.trigger if urgent else "before_request"
        )

    def _context(self, state: State, ask: Ask, trigger: Trigger) -> Context:
        limits = self.thresholds()
        request = self._built(state.messages, state.breakpoints[-1:])
        used, scale = self.gauge.used(state.messages, state.used), self.gauge.scale_of(state.messages, state.used)
        if trigger == "prompt_too_long" and used < limits.window:  # whatever is estimated: the service says it is more
            scale *= limits.window / max(used, 1)
            used = limits.window
        return toolpost.Context(
            messages=state.messages,
            used=used,
            window=limits.effective,
            budget=limits.auto // 2,
            trigger=trigger,
            idle=self.idle(),
            scale=scale,
            # Without credentials: whoever sends it gets those of the session.
            request=replace(request, env=None),
            ask=ask,
            said=self.said,
            stash=self.stash(),
        )

    def _warn(self, used: int) -> None:
        """Tell the person once that the conversation gets long, where it is not compacted by itself."""
        limits = self.thresholds()
        if used < limits.warn or self.gauge.warned or (self.policy.auto and self.policy.compact):
            return
        self.gauge.warned = True
        self.report(
            f"The conversation has {used:,} of {limits.effective:,} tokens and is not compacted by itself, as the settings "
            "or the environment say so: compact it before it is full."
        )

    @cached_property
    def _strategies(self) -> Sequence[Named]:
        return self.strategies()

    @cached_property
    def _compactor(self) -> Compactor:
        from toolpost_core.loop.compacting import Compactor, unknown_in

        if odd := unknown_in(self.policy.order, self._strategies):
            self.report_once(odd)
        return Compactor(
            strategies=self._strategies,
            order=self.policy.order,
            events=self.events,
            report=self.report,
            abort=self.abort,
            timeout=self.policy.timeout,
        )
