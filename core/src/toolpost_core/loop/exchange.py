"""One request, its answer, and the results of its calls; calls start while the answer still comes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import aclosing, suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final, cast

import toolpost
from toolpost import Aborted, ProviderError, ToolUse
from toolpost._frozen import frozen
from toolpost_core.loop.delivery import Delivery
from toolpost_core.loop.messages import THOUGHTS, joined, results_message
from toolpost_core.loop.stream import Answer
from toolpost_core.tools.executor import StreamingExecutor
from toolpost_core.tools.siblings import Siblings
from toolpost_core.tools.watched import watched

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Sequence
    from typing import Any

    from toolpost import (
        Message,
        ModelInfo,
        ModelRequest,
        Provider,
        SessionEvent,
    )
    from toolpost_core.loop.budget import Budget, Next
    from toolpost_core.loop.delivery import Keep
    from toolpost_core.loop.display import Display
    from toolpost_core.loop.state import State
    from toolpost_core.tools.abort import AbortNode
    from toolpost_core.tools.calls import CallResult
    from toolpost_core.tools.results import ResultStore

CAN_WAIT: Final = ("tool_use", "end_turn", "stop_sequence")
"""How an answer ends whose only call can wait for a later run."""


@frozen()
class Turn:
    """One request with what came of it.

    `can_raise` says that an answer that was cut may be asked for again, with more tokens. `records` are those of the answer
    and of its results. Without a `request` it goes on with the last answer.
    """

    request: ModelRequest | None
    answer: Answer
    results: tuple[CallResult, ...] = ()
    error: ProviderError | None = None
    api_duration: float = 0.0
    can_raise: bool = False
    records: tuple[str, ...] = ()

    @property
    def ran(self) -> bool:
        """Whether a call got past its gates: the answer that asked for it can't be discarded any more."""
        return any(result.duration for result in self.results)

    @property
    def stop(self) -> str | None:
        """Why a hook ends the turn, if one does."""
        return next((result.stop for result in self.results if result.stop is not None), None)

    @property
    def deferred(self) -> ToolUse | None:
        """The call that a hook put off, if one was and can wait."""
        return next((result.call for result in self.results if result.deferred), None)

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


@frozen(kw_only=True)
class Exchange:
    """Sends requests and runs what the answers call. Everything comes in as a field; it owns nothing.

    `run_call` runs one call with an abort node of its own, `apply` takes over what a result changes in the context.
    `after_answer` tells listeners, `clock` gives seconds, `display` changes what front ends are shown.
    """

    provider: Callable[[], Provider]
    model: Callable[[], ModelInfo]
    run_call: Callable[[ToolUse, AbortNode], Awaitable[CallResult]]
    is_safe: Callable[[ToolUse], bool]
    aborts_siblings: Callable[[str], bool]
    apply: Callable[[CallResult], None]
    after_answer: Callable[[ModelRequest, Answer, float], Coroutine[Any, Any, None]]
    emit: Callable[[SessionEvent], None]
    keep: Keep
    budget: Budget
    results: ResultStore
    abort: AbortNode
    display: Display | None = None
    clock: Callable[[], float] = time.perf_counter

    async def __call__(
        self,
        request: ModelRequest,
        expected: Next,
        ids: set[str],
        *,
        can_raise: bool = False,
        superseded: Sequence[str] = (),
    ) -> Turn:
        """Make one turn. `ids` are those of all calls so far; the answer's are added.

        `expected` is held back in the budget until the answer is there: what its calls ask for is paid from the rest.
        `superseded` are the records of discarded answers that this one takes the place of.
        """
        turn, records = Turn(request, Answer(ids=ids), can_raise=can_raise), list[str]()
        siblings = Siblings(self.abort.child(), partial(self._run, records), self.aborts_siblings)
        async with asyncio.TaskGroup() as group:
            executor = StreamingExecutor(siblings, self.is_safe, self.apply, group)
            delivery = Delivery(
                answer=turn.answer,
                executor=executor,
                keep=self.keep,
                emit=self.emit,
                records=records,
                can_raise=can_raise,
                superseded=superseded,
                display=self.display,
            )
            started = self.clock()
            with self.budget.under_way(expected):
                error = await self._stream(request, delivery)
            duration = self.clock() - started
            if error is not None:
                siblings.abort("discard")
            delivery.close()
            self.budget.add(self.model(), turn.answer.usage)
            if error is None and turn.answer.stop_reason is not None:
                with suppress(Aborted):
                    await watched(self.after_answer(request, turn.answer, duration), self.abort)
            results = [result async for result in executor.results()]
        if len(results) > 1 or error is not None or turn.answer.stop_reason not in CAN_WAIT:
            results = [self._not_put_off(records, result) for result in results]
        return replace(turn, results=self._fitted(results), error=error, api_duration=duration, records=tuple(records))

    async def again(self, call: ToolUse) -> Turn:
        """Run a call of the last answer that waited; nothing is asked for that."""
        turn, records = Turn(None, Answer(stop_reason="tool_use")), list[str]()
        siblings = Siblings(self.abort.child(), partial(self._run, records), self.aborts_siblings)
        async with asyncio.TaskGroup() as group:
            executor = StreamingExecutor(siblings, self.is_safe, self.apply, group)
            executor.add(call)
            results = [result async for result in executor.results()]
        return replace(turn, results=self._fitted(results), records=tuple(records))

    async def _stream(self, request: ModelRequest, delivery: Delivery) -> ProviderError | None:
        """Read the answer; returns why it broke off, if it did so without an abort."""
        try:
            await watched(self._read(request, delivery), self.abort)
        except Exception as raised:
            if isinstance(raised, Aborted) and self.abort.aborted:
                return None
            return _as_provider_error(raised)
        return None

    async def _read(self, request: ModelRequest, delivery: Delivery) -> None:
        stream = self.provider().stream(request)
        async with aclosing(cast("_Closable", stream)):
            async for event in stream:
                for shown in [event] if self.display is None else await self.display.pieces(event):
                    self.emit(toolpost.Streaming(shown))
                delivery.take(event)
        if delivery.answer.stop_reason is None:
            raise ProviderError("the model's answer ended without a stop reason", kind="connection", retriable=True)

    async def _run(self, records: list[str], call: ToolUse, node: AbortNode) -> CallResult:
        result = await self.run_call(call, node)
        return result if result.deferred else self._kept(records, result)

    def _not_put_off(self, records: list[str], result: CallResult) -> CallResult:
        return self._kept(records, replace(result, deferred=False)) if result.deferred else result

    def _kept(self, records: list[str], result: CallResult) -> CallResult:
        uuid = self.keep.result(result)
        records.append(uuid)
        message: Message = {"role": "user", "content": [result.block]}
        self.emit(toolpost.UserMessage(message=message, uuid=uuid, tool_use_result=result.data))
        return result

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


class _Closable(AsyncIterator[object]):
    async def aclose(self) -> None: ...


def _as_provider_error(error: Exception) -> ProviderError:
    if isinstance(error, ProviderError):
        return error
    return ProviderError(f"The provider failed: {type(error).__name__}: {error}")
