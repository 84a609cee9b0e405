"""The thirteen steps of one call. Never raises: everything becomes a result."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from toolpost import Aborted
from toolpost._frozen import frozen
from toolpost_core.events.isolation import is_own
from toolpost_core.tools import texts
from toolpost_core.tools.answers import heard, notes_of, stop_of
from toolpost_core.tools.calls import CallResult, Found, PutOff, Refused
from toolpost_core.tools.permit import parse
from toolpost_core.tools.results import RESULT_CHARS, error_block, with_text
from toolpost_core.tools.shown import finished, shown
from toolpost_core.tools.watched import watched

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from toolpost import AbortSignal, SessionEvent, ToolContext, ToolUse
    from toolpost_core.tools.abort import AbortNode
    from toolpost_core.tools.admission import Admission
    from toolpost_core.tools.execution import Execution
    from toolpost_core.tools.pool import Pool
    from toolpost_core.tools.results import ResultStore
    from toolpost_core.tools.told import Told


@frozen()
class Pipeline:
    """Runs calls. `context_for` makes a call's context."""

    pool: Pool
    told: Told
    admission: Admission
    execution: Execution
    results: ResultStore
    emit: Callable[[SessionEvent], None]
    context_for: Callable[[ToolUse, AbortSignal], ToolContext]

    async def run(self, call: ToolUse, abort: AbortNode) -> CallResult:
        """Run one call through all steps."""
        started = time.perf_counter()
        try:
            found = self._find(call, abort)
            self._check_abort(abort)
            permitted = await watched(self.admission.admit(found, abort), abort)
            self._check_abort(abort)
            return await self.execution.execute(permitted)
        except Refused as refusal:
            return await self._refused(call, refusal, abort, time.perf_counter() - started)
        except PutOff:
            return CallResult(call, error_block(call.id, texts.PUT_OFF), deferred=True)
        except Aborted as error:
            called_off = Refused(texts.failure(call.name, error))
            return await self._refused(call, called_off, abort, time.perf_counter() - started)
        except BaseException as error:
            if not is_own(error):
                raise
            text = f"{call.name} failed inside Toolpost: {type(error).__name__}: {error}"
            return self._finish(CallResult(call, error_block(call.id, text)), call.name)

    def is_safe(self, call: ToolUse) -> bool:
        """Whether a call may run beside others; what can't be read may not."""
        entry = self.pool.find(call.name)
        if entry is None or call.raw is not None:
            return True  # it gets an error result and runs nothing
        try:
            return entry.tool.is_concurrency_safe(parse(self.pool, entry.tool, call.input))
        except BaseException as error:
            if not is_own(error):
                raise
            return False

    def _find(self, call: ToolUse, abort: AbortNode) -> Found:
        entry = self.pool.find(call.name)
        if entry is None:
            raise Refused(f"No such tool: {call.name!r}. The tools are: {', '.join(self.pool.names) or 'none'}.")
        blocks = entry.tool.interrupt_behavior() == "block"
        return Found(call, entry, self.context_for(call, abort.past_interrupts() if blocks else abort))

    def _check_abort(self, abort: AbortNode) -> None:
        if abort.reason is not None:
            raise Refused(texts.ABORT_TEXTS[abort.reason])

    async def _refused(self, call: ToolUse, refusal: Refused, abort: AbortNode, duration: float) -> CallResult:
        after, observed = None, self._observed(call, abort)
        if refusal.ruling is None:
            entry = self.pool.find(call.name)
            name = entry.tool.name if entry is not None else call.name
            told = self.told.failed(call, name, observed, refusal.text, duration, interrupted=False)
            after = await heard(told, abort)
        block = self.results.fit(error_block(call.id, refusal.text), RESULT_CHARS, call.name)
        for note in notes_of(after):
            block = with_text(block, note)
        stop = refusal.stop or stop_of(after)
        result = CallResult(call, block, ruling=refusal.ruling, stop=stop, observed=observed)
        return self._finish(result, self._summary(call))

    def _observed(self, call: ToolUse, abort: AbortNode) -> Mapping[str, Any]:
        """Return the input of a call that never ran as listeners are told of it, as far as it can be read."""
        entry = self.pool.find(call.name)
        if entry is None or call.raw is not None:
            return call.input
        tool = entry.tool
        return shown(lambda: tool.backfill_observable_input(call.input, self.context_for(call, abort)), call.input)

    def _summary(self, call: ToolUse) -> str:
        """Return what a call that never ran was about, as far as it can be read."""
        entry = self.pool.find(call.name)
        if entry is None or call.raw is not None:
            return call.name
        return shown(lambda: entry.tool.render_call(parse(self.pool, entry.tool, call.input)), call.name)

    def _finish(self, result: CallResult, summary: str) -> CallResult:
        self.emit(finished(result, summary))
        return result
