"""Runs a call that every gate let pass, and makes its result."""

from __future__ import annotations

import time
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

from toolpost import Aborted, ToolProgressed, ToolStarted
from toolpost._frozen import frozen
from toolpost_core.tools import texts
from toolpost_core.tools.answers import heard, notes_of, stop_of
from toolpost_core.tools.calls import CallResult
from toolpost_core.tools.leaks import Leaks
from toolpost_core.tools.results import error_block, with_text
from toolpost_core.tools.shown import finished, shown, text_of
from toolpost_core.tools.watched import GRACE, watched

if TYPE_CHECKING:
    from collections.abc import Callable

    from toolpost import SessionEvent, ToolResult, ToolResultBlock
    from toolpost_core.tools.calls import Found, Permitted
    from toolpost_core.tools.permit import Circumstances, Permitter
    from toolpost_core.tools.results import ResultStore
    from toolpost_core.tools.told import Told


@frozen()
class Execution:
    """Runs calls. `around` says what later decisions depend on at this moment."""

    told: Told
    permitter: Permitter
    results: ResultStore
    around: Callable[[], Circumstances]
    emit: Callable[[SessionEvent], None]
    leaks: Leaks = field(default_factory=Leaks)

    async def execute(self, permitted: Permitted) -> CallResult:
        """Run one call; what the tool raises becomes its result."""
        call, tool, parsed = permitted.found.call, permitted.found.tool, permitted.candidate.parsed
        summary = shown(lambda: tool.render_call(parsed), "")
        activity = shown(lambda: tool.activity(parsed), tool.name)
        self.emit(ToolStarted(tool_use_id=call.id, tool_name=tool.name, summary=summary, activity=activity))
        started = time.perf_counter()
        try:
            result = await self._call(permitted, started)
        except Exception as error:
            done = await self._failed(permitted, error, time.perf_counter() - started)
        else:
            self.around().denials.passed(permitted.ruling.request)
            done = await self._succeeded(permitted, result, time.perf_counter() - started)
        self.emit(finished(done, summary, tool))
        return done

    async def _call(self, permitted: Permitted, started: float) -> ToolResult:
        tool, call = permitted.found.tool, permitted.found.call
        ctx = permitted.found.ctx
        ctx = replace(ctx, control=replace(ctx.control, paths=self.permitter.decided(permitted.ruling.request)))

        def progress(text: str, /, **data: Any) -> None:
            elapsed = time.perf_counter() - started
            self.emit(ToolProgressed(tool_use_id=call.id, tool_name=tool.name, text=text, elapsed=elapsed, data=data))

        with self.leaks.watch(permitted.found.entry, ctx.interface.warn):
            return await watched(tool.call(permitted.candidate.parsed, ctx, progress), ctx.abort, grace=GRACE)

    async def _succeeded(self, permitted: Permitted, result: ToolResult, duration: float) -> CallResult:
        found, call = permitted.found, permitted.found.call
        if result.is_error:
            return await self._unsuccessful(permitted, result, duration)
        data, notes, stop = result.data, list(permitted.notes), permitted.stop
        given = permitted.ruling.request.tool_input
        after = await heard(self.told.after(call, found.tool.name, given, data, duration), found.ctx.abort)
        if after is not None:
            data = data if after.updated_output is None else after.updated_output
            notes += [text for text in (after.reason if after.block else "", after.additional_context) if text]
            stop = stop or stop_of(after)
        data, block = self._block(found, data, result.data)
        block = self.results.fit(block, found.tool.max_result_chars, found.tool.name)
        for note in notes:
            block = with_text(block, note)
        return CallResult(
            call, block, data, tuple(result.new_messages), result.context_modifier, duration, permitted.ruling, stop
        )

    async def _unsuccessful(self, permitted: Permitted, result: ToolResult, duration: float) -> CallResult:
        """Take a result that the tool itself calls a failure, such as that of a command with another exit code than 0."""
        found, call = permitted.found, permitted.found.call
        block: ToolResultBlock = {**found.tool.to_result_block(result.data, call.id), "is_error": True}
        block = self.results.fit(block, found.tool.max_result_chars, found.tool.name)
        given, name = permitted.ruling.request.tool_input, found.tool.name
        told = self.told.failed(call, name, given, text_of(block), duration, interrupted=False)
        after = await heard(told, found.ctx.abort)
        for note in (*permitted.notes, *notes_of(after)):
            block = with_text(block, note)
        return CallResult(
            call,
            block,
            result.data,
            tuple(result.new_messages),
            result.context_modifier,
            duration,
            permitted.ruling,
            permitted.stop or stop_of(after),
        )

    def _block(self, found: Found, data: Any, own: Any) -> tuple[Any, ToolResultBlock]:
        """Map the output; where a hook replaced it by something that the tool can't read, the tool's own counts."""
        try:
            return data, found.tool.to_result_block(data, found.call.id)
        except Exception as error:
            if data is own:
                raise
            found.ctx.interface.warn(
                f"A PostToolUse hook replaced the output of {found.tool.name} by one that it can't read ({error!r}); "
                "its own was kept."
            )
            return own, found.tool.to_result_block(own, found.call.id)

    async def _failed(self, permitted: Permitted, error: Exception, duration: float) -> CallResult:
        found, call = permitted.found, permitted.found.call
        text = texts.failure(found.tool.name, error)
        given, interrupted = permitted.ruling.request.tool_input, isinstance(error, Aborted)
        told = self.told.failed(call, found.tool.name, given, text, duration, interrupted=interrupted)
        after = await heard(told, found.ctx.abort)
        block = error_block(call.id, text)
        block = self.results.fit(block, found.tool.max_result_chars, found.tool.name)
        for note in (*permitted.notes, *notes_of(after)):
            block = with_text(block, note)
        stop = permitted.stop or stop_of(after)
        return CallResult(call, block, duration=duration, ruling=permitted.ruling, stop=stop)
