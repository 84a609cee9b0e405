"""Going on after an answer went wrong: what each step of a course does to the run."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final, TypeAlias

import toolpost
from toolpost import ProviderError
from toolpost._frozen import frozen
from toolpost_core.loop.recover import ASK_AGAIN, Trouble, next_step, retries_of, wait_before
from toolpost_core.loop.refused import without_refused
from toolpost_core.loop.state import Ended, State, StopReason, Transition
from toolpost_core.tools.watched import GRACE, watched

if TYPE_CHECKING:
    from collections.abc import Coroutine
    from typing import Any

    from toolpost import AbortSignal, SessionEvent
    from toolpost_core.loop.delivery import Keep
    from toolpost_core.loop.exchange import Turn
    from toolpost_core.loop.state import NewModel
    from toolpost_core.loop.turn import Tell

    Taking: TypeAlias = Callable[["Mender", State, Turn], Awaitable[State | None]]

AGAIN: Final = "The answer needs more tokens than it was given at first: it is written again, whole."
"""What a person reads who saw some of it."""
RESUME: Final = (
    "Your answer reached its limit of tokens and was cut. Go on exactly where it stops: no apology, and nothing of it "
    "again. If much is left, do it in smaller pieces."
)


@frozen(kw_only=True)
class Mender:
    """Takes the next step of a course, or says how the run ends.

    `shorten` makes the conversation shorter, the cheap way or by a summary, and returns None where it can't. `fall_back`
    goes over to another model, and returns None where there is none left. `tell` puts texts for the model at the end.
    `chance` gives numbers from 0 to 1, by which waits are spread.
    """

    shorten: Callable[[State, Transition], Coroutine[Any, Any, State | None]]
    fall_back: Callable[[], NewModel | None]
    tell: Tell
    keep: Keep
    emit: Callable[[SessionEvent], None]
    chance: Callable[[], float]
    abort: AbortSignal

    async def __call__(self, state: State, turn: Turn, trouble: Trouble) -> State | Ended:
        """Return the state to go on with, or the end. Raises Aborted."""
        tried = state.tried
        while isinstance(step := next_step(trouble, tried), Transition):
            tried = (*tried, step)
            if step in ASK_AGAIN:
                await self._wait(turn, sum(map(tried.count, ASK_AGAIN)), retries_of(trouble))
            mended = await _STEPS[step](self, replace(state, tried=tried), turn)
            if mended is not None:
                return replace(mended, transition=step)
        return self._given_up(state, turn, trouble, step)

    async def _escalate(self, state: State, turn: Turn) -> State | None:
        if turn.ran or not turn.can_raise:
            return None
        if turn.answer.text:
            self.emit(toolpost.Notice(AGAIN, "info", "answer_superseded"))
        return replace(self._left(state, turn), raised=True)

    async def _resume(self, state: State, turn: Turn) -> State | None:
        state = replace(turn.into(state), raised=True)
        if turn.results:  # the model reads of the cut in the result of the call that it cut
            return state
        return self.tell(replace(state, said=(*state.said, turn.answer.text)), (RESUME,))

    async def _drain(self, state: State, turn: Turn) -> State | None:
        return await self._shorter(state, turn, Transition.COLLAPSE_DRAIN_RETRY)

    async def _compact(self, state: State, turn: Turn) -> State | None:
        return await self._shorter(state, turn, Transition.REACTIVE_COMPACT_RETRY)

    async def _shorter(self, state: State, turn: Turn, how: Transition) -> State | None:
        """Shorten what was sent. The request that was too long is never sent again as it was."""
        before = turn.into(state) if turn.ran else state
        shorter = await watched(self.shorten(before, how), self.abort, grace=GRACE)
        if shorter is None or shorter.messages == before.messages:
            self.abort.raise_if_aborted()
            return None
        return shorter if turn.ran else self._left(shorter, turn)

    async def _again(self, state: State, turn: Turn) -> State | None:
        return self._left(state, turn)

    async def _fall_back(self, state: State, turn: Turn) -> State | None:
        new = self.fall_back()
        if new is None:
            return None
        text = f"{new.instead_of} is overloaded: {new.name} goes on with this prompt."
        names = {"from_model": new.instead_of, "to_model": new.name}
        self.emit(toolpost.Notice(text, "warning", "model_fallback", names))
        return self._left(state, turn)

    async def _replace_block(self, state: State, turn: Turn) -> State | None:
        assert turn.error is not None
        mended = without_refused(state.messages, turn.error)
        if mended is None:
            return None
        if not mended.blocks:
            self.keep.without_thoughts()
        for old, new in mended.blocks:
            self.keep.block_replaced(old, new)
        return self._left(replace(state, messages=mended.messages), turn)

    def _left(self, state: State, turn: Turn) -> State:
        """Return what is left of the answer: nothing, unless a call of it ran, which must not run again."""
        if turn.ran:
            return turn.into(state)
        if not turn.records:
            return state
        self.keep.dropped(turn.records)
        return replace(state, superseded=(*state.superseded, *turn.records))

    async def _wait(self, turn: Turn, attempt: int, most: int) -> None:
        """Wait before an answer that broke off is asked for again, where the person sees it."""
        error = turn.error
        assert error is not None
        delay = wait_before(attempt, error.retry_after, self.chance())
        retrying = toolpost.Retrying(attempt, max(attempt, most), delay, str(error), error.status)
        self.emit(toolpost.Streaming(retrying))
        await watched(_sleep(delay), self.abort)

    def _given_up(self, state: State, turn: Turn, trouble: Trouble, reason: StopReason) -> Ended:
        """Return the end, with the error that was withheld while there was hope."""
        state = self._left(state, turn) if trouble in (Trouble.REFUSAL, Trouble.TOO_LONG) else turn.into(state)
        ended = Ended(state, reason, turn.answer.text, turn.answer.stop_reason, _told(turn, trouble))
        return replace(ended, remedies=("rewind", "clear")) if trouble is Trouble.TOO_LONG else ended


async def _sleep(seconds: float) -> None:
    import asyncio

    await asyncio.sleep(seconds)


def _told(turn: Turn, trouble: Trouble) -> ProviderError:
    """Return the error that the person reads."""
    said = f"{turn.error} " if turn.error is not None else ""
    match trouble:
        case Trouble.OUTPUT_LIMIT:
            most = turn.request.max_tokens if turn.request is not None else None
            limit = f"of {most:,} tokens " if most else ""
            return ProviderError(
                f"The answer was cut at its limit {limit}again and again, and is not complete. Ask for less at once.",
                kind="max_output_tokens",
            )
        case Trouble.TOO_LONG:
            return toolpost.PromptTooLong(
                f"{said}The conversation is too long for the model, and can't be shortened any further. Begin a new one, "
                "go back to an earlier prompt, or use a model with a larger window.",
                status=turn.error.status if turn.error is not None else None,
            )
        case Trouble.REFUSAL:
            return ProviderError(
                "The model refuses to answer this (stop reason refusal): ask in other words.",
                kind="invalid_request",
            )
    assert turn.error is not None
    return turn.error


_STEPS: Final[Mapping[Transition, Taking]] = {
    Transition.MAX_OUTPUT_TOKENS_ESCALATE: Mender._escalate,
    Transition.MAX_OUTPUT_TOKENS_RECOVERY: Mender._resume,
    Transition.COLLAPSE_DRAIN_RETRY: Mender._drain,
    Transition.REACTIVE_COMPACT_RETRY: Mender._compact,
    Transition.MODEL_FALLBACK: Mender._fall_back,
    Transition.STREAM_RETRY: Mender._again,
    Transition.WHOLE_ANSWER_RETRY: Mender._again,
    Transition.BLOCK_REPLACED_RETRY: Mender._replace_block,
}
