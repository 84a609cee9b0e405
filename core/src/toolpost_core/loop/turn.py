"""The turn loop: ask the model, run what it calls, ask again."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, TypeAlias, cast

import toolpost
from toolpost import Aborted, PromptTooLong, ProviderError, ToolUse
from toolpost_core.loop.messages import call_ids, joined, results_message, text_message
from toolpost_core.loop.state import State, StopReason, Transition
from toolpost_core.loop.stream import Answer
from toolpost_core.tools.executor import StreamingExecutor
from toolpost_core.tools.watched import watched

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from toolpost import (
        AbortReason,
        ContentBlock,
        Message,
        ModelInfo,
        ModelRequest,
        Provider,
        SessionEvent,
        ToolResultBlock,
    )
    from toolpost_core.loop.budget import Ledger
    from toolpost_core.loop.display import Display
    from toolpost_core.loop.queue import MessageQueue
    from toolpost_core.tools.abort import AbortNode
    from toolpost_core.tools.calls import CallResult
    from toolpost_core.tools.results import ResultStore

STOP_BLOCKS = 8
"""Blocks in a row after which Stop listeners no longer keep the model going (architecture.md section 6)."""
INTERRUPTED = "[The user interrupted the turn here]"
BY_THE_USER: Final[frozenset[AbortReason]] = frozenset({"user_cancel", "interrupt"})
"""Abort reasons that the model is told of: a refusal it reads in a result, and the session's end is no word of the user."""
THOUGHTS: Final = ("thinking", "redacted_thinking")

Tell: TypeAlias = "Callable[[State, Sequence[str]], State]"


@dataclass(frozen=True)
class Ended:
    """How a run ended."""

    state: State
    reason: StopReason
    text: str = ""
    stop_reason: str | None = None
    error: ProviderError | None = None
    told: str = ""
    api_duration: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Keep:
    """Where messages go as soon as they are complete; each returns the record's uuid."""

    block: Callable[[ContentBlock, Answer], str]
    result: Callable[[CallResult], str]
    message: Callable[[Message], str]
    replaced: Callable[[ToolResultBlock], None]


@dataclass(frozen=True, kw_only=True)
class TurnLoop:
    """Runs turns until a named end. Everything comes in as a field; it owns nothing.

    `prepare` makes the next request; it is given what puts texts for the model at the end of a state. `run_call` runs one
    call with an abort node of its own, `apply` takes over what a result changes in the context. `after_answer` and
    `after_calls` tell listeners; the latter returns texts for the model, and why the turn ends if it does. `at_stop` asks
    whether the model must go on (the text that it then reads, and why the turn ends all the same). `queue` has what came
    up outside of the calls, `display` changes what front ends are shown.
    """

    provider: Callable[[], Provider]
    model: Callable[[], ModelInfo]
    prepare: Callable[[State, Tell], Awaitable[tuple[State, ModelRequest | None]]]
    run_call: Callable[[ToolUse, AbortNode], Awaitable[CallResult]]
    is_safe: Callable[[ToolUse], bool]
    aborts_siblings: Callable[[str], bool]
    apply: Callable[[CallResult], None]
    at_stop: Callable[[Answer, bool], Awaitable[tuple[str | None, str | None]]]
    after_answer: Callable[[ModelRequest, Answer, float], Awaitable[None]]
    after_calls: Callable[[Sequence[CallResult]], Awaitable[tuple[Sequence[str], str | None]]]
    emit: Callable[[SessionEvent], None]
    keep: Keep
    queue: MessageQueue
    ledger: Ledger
    results: ResultStore
    abort: AbortNode
    max_turns: int | None = None
    display: Display | None = None

    async def run(self, state: State) -> Ended:
        """Run to a named end. Never raises ProviderError."""
        spent, ids = 0.0, call_ids(state.messages)
        if self.ledger.exhausted:
            return self._over_budget(Ended(state, StopReason.MAX_BUDGET))
        while True:
            state, request = await self.prepare(state, self._told)
            if request is None or self.abort.aborted or self.ledger.exhausted:
                return replace(self._unsent(state), api_duration=spent)
            turn = await self._turn(request, ids)
            spent += turn.api_duration
            state = turn.into(state)
            ended = await self._end(state, turn)
            if isinstance(ended, State):
                state = ended
                continue
            return replace(ended, api_duration=spent)

    def _unsent(self, state: State) -> Ended:
        """Return how a run ends whose next request is not sent."""
        if self.abort.aborted:
            return Ended(self._interrupted(state), StopReason.ABORTED_STREAMING)
        if self.ledger.exhausted:
            return self._over_budget(Ended(state, StopReason.MAX_BUDGET))
        return Ended(state, StopReason.HOOK_STOPPED, told="a BeforeModel hook ended the turn")

    async def _end(self, state: State, turn: Turn) -> Ended | State:
        """Return how the run ended, or the state to go on with."""
        answer = turn.answer
        ended = Ended(state, StopReason.COMPLETED, answer.text, answer.stop_reason, turn.error)
        if self.abort.aborted:
            during = StopReason.ABORTED_TOOLS if answer.stop_reason is not None else StopReason.ABORTED_STREAMING
            return replace(ended, state=self._interrupted(state), reason=during)
        if turn.error is not None:
            too_long = isinstance(turn.error, PromptTooLong)
            return replace(ended, reason=StopReason.PROMPT_TOO_LONG if too_long else StopReason.MODEL_ERROR)
        texts, stop = await self.after_calls(turn.results) if turn.results else ((), None)
        ended = replace(ended, state=self._told(state, texts))
        if turn.stop is not None or stop is not None:
            return replace(ended, reason=StopReason.HOOK_STOPPED, told=turn.stop or stop or "")
        if self.ledger.exhausted:
            return self._over_budget(ended)
        if not turn.results and answer.stop_reason != "pause_turn":
            return await self._at_stop(ended, answer)
        if self.max_turns is not None and state.turn >= self.max_turns:
            return self._over_turns(ended)
        # An answer that only paused is sent back as it is.
        state = self._told(ended.state, self.queue.take()) if turn.results else ended.state
        return replace(state, turn=state.turn + 1, stop_blocks=0, transition=Transition.NEXT_TURN)

    def _over_budget(self, ended: Ended) -> Ended:
        spent = f"{self.ledger.dollars:.4f} of {self.ledger.max_dollars or 0:.4f} dollars"
        return replace(ended, reason=StopReason.MAX_BUDGET, told=f"The budget is used up: {spent}")

    def _over_turns(self, ended: Ended) -> Ended:
        told = f"The limit of {self.max_turns} turns is reached"
        return replace(ended, reason=StopReason.MAX_TURNS, told=told)

    async def _at_stop(self, ended: Ended, answer: Answer) -> Ended | State:
        state = ended.state
        if state.stop_blocks >= STOP_BLOCKS:
            return replace(ended, told=f"Stop hooks blocked {STOP_BLOCKS} times in a row; the turn ends")
        block, stop = await self.at_stop(answer, state.stop_blocks > 0)
        if stop is not None:
            return replace(ended, reason=StopReason.STOP_HOOK_PREVENTED, told=stop)
        if block is None:
            return await self._awaited(ended)
        if self.max_turns is not None and state.turn >= self.max_turns:
            return self._over_turns(ended)
        state = replace(state, stop_blocks=state.stop_blocks + 1, transition=Transition.STOP_HOOK_BLOCKING)
        return replace(self._told(state, (block,)), turn=state.turn + 1)

    async def _awaited(self, ended: Ended) -> Ended | State:
        """Go on with a text that the run has to wait for, if there is one to come and a turn left to read it."""
        state = ended.state
        if self.max_turns is not None and state.turn >= self.max_turns:
            return ended
        try:
            texts = await self.queue.at_end(self.abort)
        except Aborted:
            return replace(ended, state=self._interrupted(state), reason=StopReason.ABORTED_TOOLS)
        if not texts:
            return ended
        return replace(self._told(state, texts), turn=state.turn + 1, stop_blocks=0, transition=Transition.NEXT_TURN)

    def _told(self, state: State, texts: Sequence[str]) -> State:
        """Return the state with texts for the model at its end."""
        for text in texts:
            message = text_message(text)
            self.emit(toolpost.UserMessage(message=message, uuid=self.keep.message(message), synthetic=True))
            state = replace(state, messages=joined(state.messages, message))
        return state

    def _interrupted(self, state: State) -> State:
        if self.abort.reason not in BY_THE_USER:
            return state
        message = text_message(INTERRUPTED)
        self.keep.message(message)
        return replace(state, messages=joined(state.messages, message))

    async def _turn(self, request: ModelRequest, ids: set[str]) -> Turn:
        """One request, its answer and the results of its calls; calls start while the answer still comes.

        `ids` are those of all calls so far; the answer's are added.
        """
        answer, error = Answer(ids=ids), None
        siblings = self.abort.child()
        async with asyncio.TaskGroup() as group:
            executor = StreamingExecutor(self._runner(siblings), self.is_safe, self.apply, group)
            started = time.perf_counter()
            try:
                await watched(self._stream(request, answer, executor), self.abort)
            except Exception as raised:
                if not (isinstance(raised, Aborted) and self.abort.aborted):
                    error = _as_provider_error(raised)
                    siblings.abort("discard")
            duration = time.perf_counter() - started
            for block in answer.close():
                self._complete(block, answer)
            self.ledger.add(self.model(), answer.usage)
            if error is None and answer.stop_reason is not None:
                await self.after_answer(request, answer, duration)
            results = [result async for result in executor.results()]
        return Turn(answer, self._fitted(results), error, duration)

    def _fitted(self, results: Sequence[CallResult]) -> tuple[CallResult, ...]:
        """Bound the results of one message together; what is replaced and what they bring is kept for who resumes."""
        fitted = []
        for result, block in zip(results, self.results.fit_message([r.block for r in results]), strict=True):
            if block is not result.block:
                self.keep.replaced(block)
            fitted.append(replace(result, block=block))
        for message in (message for result in results for message in result.new_messages):
            self.emit(toolpost.UserMessage(message=message, uuid=self.keep.message(message), synthetic=True))
        return tuple(fitted)

    async def _stream(self, request: ModelRequest, answer: Answer, executor: StreamingExecutor) -> None:
        stream = self.provider().stream(request)
        async with aclosing(cast("_Closable", stream)):
            async for event in stream:
                for shown in [event] if self.display is None else await self.display.pieces(event):
                    self.emit(toolpost.Streaming(shown))
                for complete in answer.feed(event):
                    if isinstance(complete, ToolUse):
                        executor.add(complete)
                    else:
                        self._complete(complete, answer)
        if answer.stop_reason is None:
            raise ProviderError("the model's answer ended without a stop reason", kind="connection", retriable=True)

    def _complete(self, block: ContentBlock, answer: Answer) -> None:
        uuid = self.keep.block(block, answer)
        shown = block if self.display is None else self.display.block(block)
        self.emit(
            toolpost.AssistantMessage(
                message={"role": "assistant", "content": [shown]},
                message_id=answer.id,
                model=answer.model,
                uuid=uuid,
                usage=answer.usage,
            )
        )

    def _runner(self, siblings: AbortNode) -> Callable[[ToolUse], Awaitable[CallResult]]:
        nodes: dict[str, tuple[str, AbortNode]] = {}
        failed: set[str] = set()

        async def run(call: ToolUse) -> CallResult:
            node = siblings.child()
            nodes[call.id] = (call.name, node)
            if call.name in failed:
                node.abort("sibling_error")
            result = await self.run_call(call, node)
            if result.is_error and not node.aborted and result.duration and self.aborts_siblings(call.name):
                failed.add(call.name)
                for other, (name, sibling) in nodes.items():
                    if other != call.id and name == call.name:
                        sibling.abort("sibling_error")
            uuid = self.keep.result(result)
            message: Message = {"role": "user", "content": [result.block]}
            self.emit(toolpost.UserMessage(message=message, uuid=uuid, tool_use_result=result.data))
            return result

        return run


@dataclass(frozen=True)
class Turn:
    """One request with what came of it."""

    answer: Answer
    results: tuple[CallResult, ...]
    error: ProviderError | None = None
    api_duration: float = 0.0

    @property
    def stop(self) -> str | None:
        """Why a hook ends the turn, if one does."""
        return next((result.stop for result in self.results if result.stop is not None), None)

    def into(self, state: State) -> State:
        """Return the state after this turn: the answer, and the results in one message."""
        messages = state.messages
        blocks = self.answer.blocks
        while blocks and blocks[-1]["type"] in THOUGHTS:  # the service takes no answer that ends in one
            blocks = blocks[:-1]
        if blocks:
            messages = joined(messages, {"role": "assistant", "content": blocks})
        if self.results:
            messages = (*messages, results_message([result.block for result in self.results]))
            for result in self.results:
                for message in result.new_messages:
                    messages = joined(messages, message)
        used = self.answer.usage.prompt_tokens + self.answer.usage.output_tokens
        return replace(state, messages=messages, used=used or state.used)


class _Closable(AsyncIterator[object]):
    async def aclose(self) -> None: ...


def _as_provider_error(error: Exception) -> ProviderError:
    if isinstance(error, ProviderError):
        return error
    return ProviderError(f"The provider failed: {type(error).__name__}: {error}")
