"""The turn loop: ask the model, run what it calls, ask again."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import toolpost
from toolpost import Aborted
from toolpost._frozen import frozen
from toolpost_core.loop.estimate import new_tokens
from toolpost_core.loop.messages import call_ids, joined, text_message
from toolpost_core.loop.output import can_raise, limited
from toolpost_core.loop.state import Ended, State, StopReason, Transition
from toolpost_core.tools.watched import GRACE, watched

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Sequence
    from typing import Any

    from toolpost import AbortReason, ModelRequest, ProviderError, ToolUse
    from toolpost_core.loop.budget import Budget, Next
    from toolpost_core.loop.exchange import Exchange, Turn
    from toolpost_core.loop.queue import MessageQueue
    from toolpost_core.loop.recover import Trouble
    from toolpost_core.loop.state import NewModel
    from toolpost_core.loop.stream import Answer
    from toolpost_core.tools.abort import AbortNode
    from toolpost_core.tools.calls import CallResult

STOP_BLOCKS = 8
"""Blocks in a row after which Stop listeners no longer keep the model going, where nobody says otherwise."""
PAUSES: Final = 20
"""Pauses in a row after which an answer is not gone on with: each one is paid for, and a model may never come to an end."""
INTERRUPTED = "[The user interrupted the turn here]"
BY_THE_USER: Final[frozenset[AbortReason]] = frozenset({"user_cancel", "interrupt"})
"""Abort reasons that the model is told of: a refusal it reads in a result, and the session's end is no word of the user."""
SOUND: Final = ("end_turn", "tool_use", "stop_sequence", "pause_turn")

Tell: TypeAlias = "Callable[[State, Sequence[str]], State]"


@frozen(kw_only=True)
class TurnLoop:
    """Runs turns until a named end. Everything comes in as a field; it owns nothing.

    `prepare` makes the next request, which `exchange` sends; it is given what puts texts for the model at the end of a
    state. `after_calls` tells listeners, and returns texts for the model and why the turn ends if it does. `at_stop` asks
    whether the model must go on (the text that it then reads, and why the turn ends all the same). `incoming` puts what
    came up while calls ran at the end of a state, `queue` has what keeps a run from ending. `shorten` and `fall_back` are
    those of a `Mender`, and so is `chance`.
    """

    exchange: Exchange
    prepare: Callable[[State, Tell], Coroutine[Any, Any, tuple[State, ModelRequest | None]]]
    at_stop: Callable[[Answer, bool], Coroutine[Any, Any, tuple[str | None, str | None]]]
    after_calls: Callable[[Sequence[CallResult]], Coroutine[Any, Any, tuple[Sequence[str], str | None]]]
    incoming: Callable[[State, Tell], Awaitable[State]]
    shorten: Callable[[Tell, State, Transition], Coroutine[Any, Any, State | None]]
    fall_back: Callable[[], NewModel | None]
    chance: Callable[[], float]
    queue: MessageQueue
    budget: Budget
    abort: AbortNode
    max_turns: int | None = None
    most_blocks: int = STOP_BLOCKS

    async def run(self, state: State) -> Ended:
        """Run to a named end. Never raises ProviderError."""
        spent, usage, ids = 0.0, toolpost.Usage(), call_ids(state.messages)
        if (refusal := self.budget.refusal()) is not None:
            return _over_budget(Ended(state, StopReason.MAX_BUDGET), refusal)
        while True:
            ready = await self._ready(state)
            if isinstance(ready, Ended):
                return replace(ready, api_duration=spent, usage=usage)
            turn = await self._turn(ready, ids)
            spent, usage = spent + turn.api_duration, usage.plus(turn.answer.usage)
            outcome = await self._outcome(_counted(ready.state, turn), turn)
            if isinstance(outcome, Ended):
                return replace(outcome, api_duration=spent, usage=usage)
            state = outcome

    async def take_up(self, state: State, call: ToolUse) -> State | Ended:
        """Run a call that a hook had put off, with whose answer `state` ends; return the state to go on with."""
        try:
            self.abort.raise_if_aborted()
            turn = await self.exchange.again(call)
        except Aborted:
            return self._interrupted(Ended(state, StopReason.ABORTED_TOOLS))
        return await self._outcome(replace(state, turn=0), turn)

    # Before a request.

    async def _ready(self, state: State) -> _Ready | Ended:
        """Make the next request, or say how the run goes on or ends without it."""
        try:
            self.abort.raise_if_aborted()
            state, request = await watched(self.prepare(state, self._told), self.abort, grace=GRACE)
            self.abort.raise_if_aborted()
        except Aborted:
            return self._interrupted(Ended(state, StopReason.ABORTED_STREAMING))
        if (full := state.full) is not None:
            ended = Ended(replace(state, full=None), StopReason.BLOCKING_LIMIT, told=full.told)
            return replace(ended, remedies=full.remedies)
        if request is None:
            return Ended(state, StopReason.HOOK_STOPPED, told="a BeforeModel hook ended the turn")
        expected = self._expected(state, request)
        if (refusal := self.budget.refusal(expected)) is not None:
            return _over_budget(Ended(state, StopReason.MAX_BUDGET), refusal)
        return _Ready(state, request, expected)

    def _expected(self, state: State, request: ModelRequest) -> Next:
        """Return the request as the budget counts it before it is sent; without limits it is not looked at."""
        new = new_tokens(request, state.used) if self.budget.limited else 0
        return self.budget.expected(self.exchange.model(), state.used, new)

    async def _turn(self, ready: _Ready, ids: set[str]) -> Turn:
        state, model = ready.state, self.exchange.model()
        request = limited(ready.request, model, raised=state.raised)
        if state.transition is Transition.WHOLE_ANSWER_RETRY:
            request = replace(request, streaming=False)
        raisable = can_raise(ready.request, model, raised=state.raised)
        return await self.exchange(request, ready.expected, ids, can_raise=raisable, superseded=state.superseded)

    # After it.

    async def _outcome(self, state: State, turn: Turn) -> State | Ended:
        """Return the state to go on with, or how the run ended."""
        try:
            self.abort.raise_if_aborted()
            trouble = _trouble(turn)
            if trouble is not None:
                return await self._mended(state, turn, trouble)
            return await self._sound(turn.into(state), turn)
        except Aborted:
            during = StopReason.ABORTED_STREAMING if turn.answer.stop_reason is None else StopReason.ABORTED_TOOLS
            return self._interrupted(self._ended(turn.into(state), turn, during))

    async def _sound(self, state: State, turn: Turn) -> State | Ended:
        """Go on from an answer with nothing wrong about it."""
        if not turn.results and not _paused(turn):
            return await self._at_stop(state, turn)
        if not turn.results and state.pauses >= PAUSES:
            return replace(self._ended(state, turn, StopReason.MODEL_ERROR), error=_endless())
        if turn.deferred is not None:
            put_off = self._ended(state, turn, StopReason.TOOL_DEFERRED)
            return replace(put_off, stop_reason=StopReason.TOOL_DEFERRED.value, deferred=turn.deferred)
        outcome = await self._called(state, turn)
        if isinstance(outcome, Ended):
            return outcome
        return replace(outcome, transition=Transition.NEXT_TURN, tried=(), said=())

    async def _called(self, state: State, turn: Turn) -> State | Ended:
        """Go on with the results of calls; an answer that only paused is sent back as it is."""
        try:
            texts, stop = await watched(self.after_calls(turn.results), self.abort) if turn.results else ((), None)
        except Aborted:
            return self._interrupted(self._ended(state, turn, StopReason.ABORTED_TOOLS))
        state = self._told(state, texts)
        if turn.stop is not None or stop is not None:
            return replace(self._ended(state, turn, StopReason.HOOK_STOPPED), told=turn.stop or stop or "")
        if turn.results and (refusal := self.budget.refusal()) is not None:
            return _over_budget(self._ended(state, turn), refusal)
        if self._is_last(state):
            return self._over_turns(state, turn)
        state = await self.incoming(state, self._told) if turn.results else state
        if self.abort.aborted:
            return self._interrupted(self._ended(state, turn, StopReason.ABORTED_TOOLS))
        pauses = 0 if turn.results else state.pauses + 1
        return replace(state, turn=state.turn + 1, stop_blocks=0, pauses=pauses)

    async def _at_stop(self, state: State, turn: Turn) -> State | Ended:
        """Go on where a listener, the person's target or a text that is awaited keeps the model from ending."""
        ended = self._ended(state, turn)
        if not ended.text.strip():
            ended = replace(ended, told="The model's answer has no text.")
        if state.stop_blocks >= self.most_blocks:
            return replace(ended, told=f"Stop hooks blocked {self.most_blocks} times in a row; the turn ends")
        block, stop = await watched(self.at_stop(turn.answer, state.stop_blocks > 0), self.abort)
        if stop is not None:
            return replace(ended, reason=StopReason.STOP_HOOK_PREVENTED, told=stop)
        if block is not None:
            if self._is_last(state):
                return self._over_turns(state, turn)
            blocked = replace(state, stop_blocks=state.stop_blocks + 1)
            return self._told_on(blocked, (block,), Transition.STOP_HOOK_BLOCKING)
        if self._is_last(state):
            return ended
        if state.target is not None and (target := state.target.gone_on()) is not None:
            return self._told_on(replace(state, target=target), (target.nudge,), Transition.TOKEN_BUDGET_CONTINUATION)
        texts = await self.queue.at_end(self.abort)
        return self._told_on(replace(state, stop_blocks=0), texts, Transition.NEXT_TURN) if texts else ended

    async def _mended(self, state: State, turn: Turn, trouble: Trouble) -> State | Ended:
        """Go on after something went wrong, or end. Raises Aborted."""
        from toolpost_core.loop.mend import Mender

        mender = Mender(
            shorten=partial(self.shorten, self._told),
            fall_back=self.fall_back,
            tell=self._told,
            keep=self.exchange.keep,
            emit=self.exchange.emit,
            chance=self.chance,
            abort=self.abort,
        )
        mended = await mender(state, turn, trouble)
        if isinstance(mended, Ended):
            return replace(mended, text="".join((*mended.state.said, mended.text)))
        if not turn.results or mended.superseded:
            return mended
        return await self._called(mended, turn)

    # Ends.

    def _ended(self, state: State, turn: Turn, reason: StopReason = StopReason.COMPLETED) -> Ended:
        text = "".join((*state.said, turn.answer.text))
        return Ended(state, reason, text, turn.answer.stop_reason, turn.error)

    def _is_last(self, state: State) -> bool:
        return self.max_turns is not None and state.turn >= self.max_turns

    def _over_turns(self, state: State, turn: Turn) -> Ended:
        told = f"The limit of {self.max_turns} turns is reached"
        return replace(self._ended(state, turn, StopReason.MAX_TURNS), told=told)

    def _interrupted(self, ended: Ended) -> Ended:
        """Let the model read that the person interrupted it."""
        if self.abort.reason not in BY_THE_USER:
            return ended
        message = text_message(INTERRUPTED)
        self.exchange.keep.message(message)
        return replace(ended, state=replace(ended.state, messages=joined(ended.state.messages, message)))

    # What the model is told.

    def _told(self, state: State, texts: Sequence[str]) -> State:
        """Return the state with texts for the model at its end."""
        keep, emit = self.exchange.keep, self.exchange.emit
        for text in texts:
            message = text_message(text)
            emit(toolpost.UserMessage(message=message, uuid=keep.message(message), synthetic=True))
            state = replace(state, messages=joined(state.messages, message))
        return state

    def _told_on(self, state: State, texts: Sequence[str], transition: Transition) -> State:
        """Return the state for another turn that begins with texts."""
        return replace(self._told(state, texts), turn=state.turn + 1, transition=transition, tried=(), said=())


class _Ready(NamedTuple):
    """A request that is about to be sent, as the budget counts it."""

    state: State
    request: ModelRequest
    expected: Next


def _trouble(turn: Turn) -> Trouble | None:
    """Say what is wrong with a turn; what is needed for that is loaded when something may be."""
    if turn.error is None and turn.answer.stop_reason in SOUND:
        return None
    from toolpost_core.loop.recover import trouble_of

    other = turn.request is not None and turn.request.has_fallback
    answer = turn.answer
    return trouble_of(begun=answer.begun, stop_reason=answer.stop_reason, error=turn.error, has_fallback=other)


def _paused(turn: Turn) -> bool:
    """Whether the model is to go on where it is; where nothing came of an answer the next one would be the same."""
    return turn.answer.stop_reason == "pause_turn" and bool(turn.answer.blocks)


def _endless() -> ProviderError:
    told = f"The model paused {PAUSES} times in a row and did not come to an end. Say how to go on, or ask for less at once."
    return toolpost.ProviderError(told)


def _counted(state: State, turn: Turn) -> State:
    """Return the state with what a turn used, and without the records that its answer took the place of."""
    target = state.target.with_answer(turn.answer.usage.output_tokens) if state.target is not None else None
    return replace(state, target=target, superseded=() if turn.records else state.superseded)


def _over_budget(ended: Ended, refusal: str) -> Ended:
    return replace(ended, reason=StopReason.MAX_BUDGET, told=refusal)
