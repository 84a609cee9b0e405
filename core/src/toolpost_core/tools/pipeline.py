"""The thirteen steps of one call. Never raises: everything becomes a result."""

from __future__ import annotations

import time
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, Final, TypeVar

from toolpost import Aborted, InvalidInput, ToolError, ToolFinished, ToolProgressed, ToolStarted
from toolpost._frozen import frozen
from toolpost_core.events.isolation import is_own
from toolpost_core.permissions import places
from toolpost_core.permissions.denials import advice, notice
from toolpost_core.tools import texts
from toolpost_core.tools.calls import CallResult, Found, Permitted, PutOff, Refused
from toolpost_core.tools.leaks import Leaks
from toolpost_core.tools.permit import Candidate, Circumstances, Interview, Permitter, Ruling, parse
from toolpost_core.tools.results import RESULT_CHARS, ResultStore, error_block, with_text
from toolpost_core.tools.told import Told
from toolpost_core.tools.watched import GRACE, watched

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping
    from pathlib import Path

    from toolpost import (
        AbortSignal,
        SessionEvent,
        Tool,
        ToolContext,
        ToolResult,
        ToolResultBlock,
        ToolUse,
    )
    from toolpost.events._base import BlockOutcome, Outcome
    from toolpost.events.tool import PreToolUseOutcome
    from toolpost_core.events.dispatch import Emission
    from toolpost_core.tools.abort import AbortNode
    from toolpost_core.tools.pool import Pool

T = TypeVar("T")
HEARD_GRACE: Final = 0.05
"""Seconds that listeners have after an abort to answer to what happened already."""


@frozen()
class Pipeline:
    """Runs calls. `context_for` makes a call's context, `around` says what decisions depend on at this moment.

    `defers` says that a call which a hook puts off can wait for a later run.
    """

    pool: Pool
    told: Told
    permitter: Permitter
    interview: Interview
    results: ResultStore
    context_for: Callable[[ToolUse, AbortSignal], ToolContext]
    around: Callable[[], Circumstances]
    emit: Callable[[SessionEvent], None]
    record: Callable[[ToolUse, Ruling, str], None]
    leaks: Leaks = field(default_factory=Leaks)
    defers: bool = False

    async def run(self, call: ToolUse, abort: AbortNode) -> CallResult:
        """Run one call through all steps."""
        started = time.perf_counter()
        try:
            found = self._find(call, abort)
            self._check_abort(abort)
            permitted = await watched(self._admit(found, abort), abort)
            self._check_abort(abort)
            return await self._execute(permitted)
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
            return self._finish(call, CallResult(call, error_block(call.id, text)), call.name)

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

    async def _admit(self, found: Found, abort: AbortNode) -> Permitted:
        """Ask every gate."""
        candidate = self._check_input(found)
        await self._validate(found, candidate)
        return await self._permit(found, candidate, abort)

    def _find(self, call: ToolUse, abort: AbortNode) -> Found:
        entry = self.pool.find(call.name)
        if entry is None:
            raise Refused(f"No such tool: {call.name!r}. The tools are: {', '.join(self.pool.names) or 'none'}.")
        blocks = entry.tool.interrupt_behavior() == "block"
        return Found(call, entry, self.context_for(call, abort.past_interrupts() if blocks else abort))

    def _check_abort(self, abort: AbortNode) -> None:
        if abort.reason is not None:
            raise Refused(texts.ABORT_TEXTS[abort.reason])

    def _check_input(self, found: Found) -> Candidate:
        call = found.call
        if call.raw is not None:
            raise Refused(
                f"The input of {call.name} is not a JSON object. You wrote:\n{call.raw}\nCall it again with one."
            )
        try:
            return Candidate(call.input, parse(self.pool, found.tool, call.input))
        except InvalidInput as error:
            raise Refused(texts.wrong_input(found.tool, error)) from error

    async def _validate(self, found: Found, candidate: Candidate) -> None:
        try:
            wrong = await found.tool.validate_input(candidate.parsed, found.ctx)
        except ToolError as error:
            wrong = error.for_model
        if wrong:
            raise Refused(wrong)

    async def _permit(self, found: Found, candidate: Candidate, abort: AbortNode) -> Permitted:
        observed = dict(found.tool.backfill_observable_input(candidate.raw, found.ctx))
        place = places.real_path(found.tool.get_path(candidate.parsed), found.ctx.scope)
        hook, ruling = await self._ruled(found, replace(candidate, raw=observed))
        outcome = hook.outcome
        notes = (outcome.additional_context,) if outcome is not None and outcome.additional_context else ()
        if not ruling.rewritten:
            ruling = replace(ruling, candidate=candidate)
            self._check_place(place, ruling)
        elif ruling.verdict.wanted != "deny":
            await self._validate(found, ruling.candidate)
        return await self._settle(found, ruling, hook, abort, notes)

    async def _ruled(self, found: Found, candidate: Candidate) -> tuple[Emission[PreToolUseOutcome], Ruling]:
        """Hear PreToolUse listeners and decide; who is asked last is asked meanwhile."""
        tool, call, around = found.tool, found.call, self.around()
        read_only = tool.is_read_only(candidate.parsed)
        early = self.permitter.ahead(tool, candidate, around, call.id)
        try:
            hook = await self.told.before(call, tool.name, candidate.raw, read_only=read_only)
            ruling = await self.permitter.rule(
                tool,
                candidate,
                around,
                tool_use_id=call.id,
                hook=hook.outcome,
                hook_failure=hook.failure,
                early=early,
            )
        except InvalidInput as error:
            raise Refused(
                f"A hook or permission resolver rewrote the input of {call.name}, and it no longer fits: {error}"
            ) from error
        finally:
            if early is not None:
                early.answers.cancel()
        return hook, ruling

    def _check_place(self, place: Path | None, ruling: Ruling) -> None:
        """Refuse a path whose links were exchanged while listeners looked at it."""
        if ruling.verdict.wanted != "deny" and place != ruling.request.real_path:
            raise Refused(
                f"{ruling.request.path} led to {place} and leads to {ruling.request.real_path} by now: it was changed "
                "while the call was decided on, so the call was not made.",
                ruling,
            )

    async def _settle(
        self,
        found: Found,
        ruling: Ruling,
        hook: Emission[PreToolUseOutcome],
        abort: AbortNode,
        notes: tuple[str, ...],
    ) -> Permitted:
        verdict, call, stop = ruling.verdict, found.call, _stop(hook.outcome)
        if self.defers and stop is None and verdict.wanted != "deny" and _defers(hook.outcome):
            raise PutOff
        if verdict.behavior == "allow":
            self.record(call, ruling, "allow")
            return Permitted(found, ruling.candidate, ruling, notes, stop)
        if verdict.wanted == "deny":
            self.record(call, ruling, "deny")
            text = texts.denial(verdict, hook.failure)
            raise Refused(text + await self._counted(found, ruling), ruling, stop=stop)
        title = _shown(lambda: found.tool.description(ruling.candidate.parsed), found.tool.name)
        settled = await self.interview.settle(ruling, title, found.ctx)
        if settled.decision.behavior == "deny":
            self.record(call, ruling, "deny")
            if settled.stop:
                abort.abort("rejected")
            retry = await self._counted(found, ruling) if settled.by == "nobody" else ""
            raise Refused(texts.rejection(settled) + retry, ruling, stop=stop)
        if settled.updated_input is not None:
            ruling = await self._rewritten(found, ruling, settled.updated_input)
        self.record(call, ruling, "allow")
        return Permitted(found, ruling.candidate, ruling, notes, stop)

    async def _counted(self, found: Found, ruling: Ruling) -> str:
        """Tell and count a refusal without a person; return what the model is told beside the reason."""
        told = await self.interview.refused(ruling)
        counts = self.around().denials.refused(ruling.request)
        if said := notice(ruling.request, counts):
            found.ctx.interface.warn(said)
        return told + advice(ruling.request, counts)

    async def _rewritten(self, found: Found, ruling: Ruling, new: Mapping[str, Any]) -> Ruling:
        """Check an input that the person or a listener put in the place of the one that was asked about."""
        try:
            candidate = self.permitter.read(found.tool, new)
            await self._validate(found, candidate)
            again = await self.permitter.rule(found.tool, candidate, self.around(), tool_use_id=found.call.id)
        except InvalidInput as error:
            self.record(found.call, ruling, "deny")
            raise Refused(f"The changed input of {found.call.name} does not fit: {error}", ruling) from error
        if again.rewritten and again.verdict.wanted != "deny":
            await self._validate(found, again.candidate)
        if again.verdict.wanted == "deny":
            self.record(found.call, again, "deny")
            raise Refused(texts.denial(again.verdict), again)
        return again

    async def _execute(self, permitted: Permitted) -> CallResult:
        found, call = permitted.found, permitted.found.call
        tool, parsed = found.tool, permitted.candidate.parsed
        summary, activity = (
            _shown(lambda: tool.render_call(parsed), ""),
            _shown(lambda: tool.activity(parsed), tool.name),
        )
        self.emit(ToolStarted(tool_use_id=call.id, tool_name=tool.name, summary=summary, activity=activity))
        started = time.perf_counter()
        try:
            result = await self._call(permitted, started)
        except Exception as error:
            failed = await self._failed(permitted, error, time.perf_counter() - started)
            return self._finish(call, failed, summary, tool=tool)
        self.around().denials.passed(permitted.ruling.request)
        done = await self._succeeded(permitted, result, time.perf_counter() - started)
        return self._finish(call, done, summary, tool=tool)

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
        after = await _heard(self.told.after(call, found.tool.name, given, data, duration), found.ctx.abort)
        if after is not None:
            data = data if after.updated_output is None else after.updated_output
            notes += [text for text in (after.reason if after.block else "", after.additional_context) if text]
            stop = stop or _stop(after)
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
        told = self.told.failed(call, name, given, _text(block), duration, interrupted=False)
        after = await _heard(told, found.ctx.abort)
        for note in (*permitted.notes, *_notes(after)):
            block = with_text(block, note)
        return CallResult(
            call,
            block,
            result.data,
            tuple(result.new_messages),
            result.context_modifier,
            duration,
            permitted.ruling,
            permitted.stop or _stop(after),
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
        after = await _heard(told, found.ctx.abort)
        block = error_block(call.id, text)
        block = self.results.fit(block, found.tool.max_result_chars, found.tool.name)
        for note in (*permitted.notes, *_notes(after)):
            block = with_text(block, note)
        stop = permitted.stop or _stop(after)
        return CallResult(call, block, duration=duration, ruling=permitted.ruling, stop=stop)

    async def _refused(self, call: ToolUse, refusal: Refused, abort: AbortNode, duration: float) -> CallResult:
        after, observed = None, self._observed(call, abort)
        if refusal.ruling is None:
            entry = self.pool.find(call.name)
            name = entry.tool.name if entry is not None else call.name
            told = self.told.failed(call, name, observed, refusal.text, duration, interrupted=False)
            after = await _heard(told, abort)
        block = self.results.fit(error_block(call.id, refusal.text), RESULT_CHARS, call.name)
        for note in _notes(after):
            block = with_text(block, note)
        stop = refusal.stop or _stop(after)
        result = CallResult(call, block, ruling=refusal.ruling, stop=stop, observed=observed)
        return self._finish(call, result, self._summary(call))

    def _observed(self, call: ToolUse, abort: AbortNode) -> Mapping[str, Any]:
        """Return the input of a call that never ran as listeners are told of it, as far as it can be read."""
        entry = self.pool.find(call.name)
        if entry is None or call.raw is not None:
            return call.input
        tool = entry.tool
        return _shown(lambda: tool.backfill_observable_input(call.input, self.context_for(call, abort)), call.input)

    def _summary(self, call: ToolUse) -> str:
        """Return what a call that never ran was about, as far as it can be read."""
        entry = self.pool.find(call.name)
        if entry is None or call.raw is not None:
            return call.name
        return _shown(lambda: entry.tool.render_call(parse(self.pool, entry.tool, call.input)), call.name)

    def _finish(self, call: ToolUse, result: CallResult, summary: str, tool: Tool[Any] | None = None) -> CallResult:
        view = (
            _shown(lambda: tool.render_result(result.data), None) if tool is not None and not result.is_error else None
        )
        self.emit(
            ToolFinished(
                tool_use_id=call.id,
                tool_name=call.name,
                summary=summary,
                is_error=result.is_error,
                text=_text(result.block),
                view=view,
                duration=result.duration,
            )
        )
        return result


def _text(block: ToolResultBlock) -> str:
    content = block["content"]
    return content if isinstance(content, str) else "\n".join(str(part.get("text", "")) for part in content)


async def _heard(telling: Coroutine[Any, Any, T | None], abort: AbortSignal) -> T | None:
    """Return what listeners answer to what happened already; an abort does not wait for them."""
    try:
        return await watched(telling, abort, grace=HEARD_GRACE, patience=0.0)
    except Aborted:
        return None


def _notes(outcome: BlockOutcome | None) -> list[str]:
    """Return what a listener wants the model to read of a failure."""
    return [] if outcome is None else [note for note in (outcome.reason, outcome.additional_context) if note]


def _stop(outcome: Outcome | None) -> str | None:
    """Return why a listener ends the turn, if it does."""
    return (outcome.stop_reason or "a hook ended the turn") if outcome is not None and outcome.stop else None


def _defers(outcome: PreToolUseOutcome | None) -> bool:
    return outcome is not None and outcome.decision == "defer"


def _shown(make: Callable[[], T], otherwise: T) -> T:
    """Return what a tool wants shown; a fault there must not cost the call."""
    try:
        return make()
    except BaseException as error:
        if not is_own(error):
            raise
        return otherwise
