"""The thirteen steps of one call. Never raises: everything becomes a result."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from toolpost import Aborted, InvalidInput, ToolError, ToolFinished, ToolProgressed, ToolStarted, on
from toolpost.events.tool import PostToolUse, PostToolUseFailure, PreToolUse
from toolpost_core.tools.permit import Candidate, Circumstances, Interview, Permitter, Ruling, parse
from toolpost_core.tools.results import ResultStore, error_block, with_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from toolpost import Message, SessionEvent, Tool, ToolContext, ToolResult, ToolResultBlock, ToolUse
    from toolpost.events.tool import PostToolUseOutcome, PreToolUseOutcome
    from toolpost.tools import ContextModifier
    from toolpost_core.events.dispatch import Dispatcher, Emission
    from toolpost_core.permissions.combine import Verdict
    from toolpost_core.tools.abort import AbortNode
    from toolpost_core.tools.pool import Entry, Pool

CANCEL_GRACE = 0.1
"""Seconds that a tool has to end by itself after an abort, before its task is cancelled."""

ABORT_TEXTS: Mapping[str, str] = {
    "user_cancel": "The user interrupted the turn: this call was called off. Wait for what the user says next.",
    "interrupt": "The user sent a new message: this call was called off.",
    "sibling_error": "Called off: another call of the same answer failed.",
    "rejected": "The user refused a call of this answer and stopped the turn: this call was called off.",
    "discard": "Called off: the answer that asked for this call was discarded.",
    "engine_stop": "The session ended before this call did.",
}


@dataclass(frozen=True)
class CallResult:
    """What one call came to, for the loop. `stop` says that a hook ends the turn."""

    call: ToolUse
    block: ToolResultBlock
    data: Any = None
    new_messages: tuple[Message, ...] = ()
    context_modifier: ContextModifier | None = None
    duration: float = 0.0
    ruling: Ruling | None = None
    stop: str | None = None

    @property
    def is_error(self) -> bool:
        """Whether the model reads it as a failure."""
        return bool(self.block.get("is_error"))


class Refused(Exception):
    """Raised when a gate refuses a call; `text` is what the model reads."""

    def __init__(self, text: str, ruling: Ruling | None = None, *, stop: str | None = None) -> None:
        super().__init__(text)
        self.text = text
        self.ruling = ruling
        self.stop = stop


@dataclass(frozen=True)
class Found:
    """A call whose tool is known."""

    call: ToolUse
    entry: Entry
    ctx: ToolContext

    @property
    def tool(self) -> Tool[Any]:
        """The tool."""
        return self.entry.tool


@dataclass(frozen=True)
class Permitted:
    """A call that every gate let pass, with the input that will run. `notes` go to the model with the result."""

    found: Found
    candidate: Candidate
    ruling: Ruling
    notes: tuple[str, ...] = ()
    stop: str | None = None


@dataclass(frozen=True)
class Pipeline:
    """Runs calls. `context_for` makes a call's context, `around` says what decisions depend on at this moment."""

    pool: Pool
    events: Dispatcher
    permitter: Permitter
    interview: Interview
    results: ResultStore
    context_for: Callable[[ToolUse, AbortNode], ToolContext]
    around: Callable[[], Circumstances]
    emit: Callable[[SessionEvent], None]
    record: Callable[[ToolUse, Ruling, str], None]

    async def run(self, call: ToolUse, abort: AbortNode) -> CallResult:
        """Run one call through all steps."""
        started = time.perf_counter()
        try:
            found = self._find(call, abort)
            self._check_abort(abort)
            candidate = self._check_input(found)
            await self._validate(found, candidate)
            permitted = await self._permit(found, candidate, abort)
            return await self._execute(permitted, abort)
        except Refused as refusal:
            return await self._refused(call, refusal, time.perf_counter() - started)
        except Exception as error:
            text = f"{call.name} failed inside Toolpost: {type(error).__name__}: {error}"
            return self._finish(call, CallResult(call, error_block(call.id, text)), call.name)

    def is_safe(self, call: ToolUse) -> bool:
        """Whether a call may run beside others; what can't be read may not."""
        entry = self.pool.find(call.name)
        if entry is None or call.raw is not None:
            return True  # it gets an error result and runs nothing
        try:
            return entry.tool.is_concurrency_safe(parse(self.pool, entry.tool, call.input))
        except Exception:
            return False

    def _find(self, call: ToolUse, abort: AbortNode) -> Found:
        entry = self.pool.find(call.name)
        if entry is None:
            raise Refused(f"No such tool: {call.name!r}. The tools are: {', '.join(self.pool.names) or 'none'}.")
        return Found(call, entry, self.context_for(call, abort))

    def _check_abort(self, abort: AbortNode) -> None:
        if abort.reason is not None:
            raise Refused(ABORT_TEXTS[abort.reason])

    def _check_input(self, found: Found) -> Candidate:
        call = found.call
        if call.raw is not None:
            raise Refused(
                f"The input of {call.name} is not a JSON object. You wrote:\n{call.raw}\nCall it again with one."
            )
        try:
            return Candidate(call.input, parse(self.pool, found.tool, call.input))
        except InvalidInput as error:
            raise Refused(
                f"InputValidationError: {call.name} was called with a wrong input.\n{error.for_model}"
            ) from error

    async def _validate(self, found: Found, candidate: Candidate) -> None:
        try:
            wrong = await found.tool.validate_input(candidate.parsed, found.ctx)
        except ToolError as error:
            wrong = error.for_model
        if wrong:
            raise Refused(wrong)

    async def _permit(self, found: Found, candidate: Candidate, abort: AbortNode) -> Permitted:
        tool, call = found.tool, found.call
        observed = dict(tool.backfill_observable_input(candidate.raw, found.ctx))
        hook = await self._pre_tool_use(found, candidate, observed)
        outcome = hook.outcome
        try:
            ruling = await self.permitter.rule(
                tool,
                replace(candidate, raw=observed),
                self.around(),
                tool_use_id=call.id,
                hook=outcome,
                hook_failure=hook.failure,
            )
        except InvalidInput as error:
            raise Refused(
                f"A PreToolUse hook rewrote the input of {call.name}, and it no longer fits: {error}"
            ) from error
        notes = (outcome.additional_context,) if outcome is not None and outcome.additional_context else ()
        stop = (outcome.stop_reason or "a hook ended the turn") if outcome is not None and outcome.stop else None
        if outcome is None or outcome.updated_input is None:
            ruling = replace(ruling, candidate=candidate)
        return await self._settle(found, ruling, hook, abort, notes, stop)

    async def _pre_tool_use(
        self, found: Found, candidate: Candidate, observed: Mapping[str, Any]
    ) -> Emission[PreToolUseOutcome]:
        return await self.events.emit(
            on.pre_tool_use,
            PreToolUse(
                tool_name=found.tool.name,
                tool_input=observed,
                tool_use_id=found.call.id,
                read_only=found.tool.is_read_only(candidate.parsed),
            ),
        )

    async def _settle(
        self,
        found: Found,
        ruling: Ruling,
        hook: Emission[PreToolUseOutcome],
        abort: AbortNode,
        notes: tuple[str, ...],
        stop: str | None,
    ) -> Permitted:
        verdict, call = ruling.verdict, found.call
        if verdict.behavior == "allow":
            self.record(call, ruling, "allow")
            return Permitted(found, ruling.candidate, ruling, notes, stop)
        if verdict.wanted == "deny":
            self.record(call, ruling, "deny")
            retry = await self.interview.refused(ruling)
            raise Refused(_denial(verdict, hook.failure, retry), ruling, stop=stop)
        decision, reply = await self.interview.settle(ruling, found.tool.description(ruling.candidate.parsed))
        self.record(call, ruling, decision.behavior)
        if decision.behavior == "deny":
            stopped = reply is not None and reply.stop
            if stopped:
                abort.abort("rejected")
            raise Refused(_rejection(decision.reason, person=reply is not None, stop=stopped), ruling, stop=stop)
        new = reply.updated_input if reply is not None else decision.updated_input
        if new is not None:
            ruling = await self._rewritten(found, ruling, new)
        return Permitted(found, ruling.candidate, ruling, notes, stop)

    async def _rewritten(self, found: Found, ruling: Ruling, new: Mapping[str, Any]) -> Ruling:
        """Check an input that the person or a listener put in the place of the one that was asked about."""
        try:
            candidate = self.permitter.read(found.tool, new)
        except InvalidInput as error:
            raise Refused(f"The changed input of {found.call.name} does not fit: {error}", ruling) from error
        await self._validate(found, candidate)
        again = await self.permitter.rule(found.tool, candidate, self.around(), tool_use_id=found.call.id)
        if again.verdict.wanted == "deny":
            raise Refused(_denial(again.verdict, None, retry=False), again)
        return again

    async def _execute(self, permitted: Permitted, abort: AbortNode) -> CallResult:
        found, call = permitted.found, permitted.found.call
        tool, parsed = found.tool, permitted.candidate.parsed
        summary = tool.render_call(parsed)
        self.emit(
            ToolStarted(tool_use_id=call.id, tool_name=tool.name, summary=summary, activity=tool.activity(parsed))
        )
        started = time.perf_counter()
        try:
            result = await self._call(permitted, abort, started)
        except Exception as error:
            failed = await self._failed(permitted, error, time.perf_counter() - started)
            return self._finish(call, failed, summary, tool=tool)
        done = await self._succeeded(permitted, result, time.perf_counter() - started)
        return self._finish(call, done, summary, tool=tool)

    async def _call(self, permitted: Permitted, abort: AbortNode, started: float) -> ToolResult:
        tool, call = permitted.found.tool, permitted.found.call

        def progress(text: str, /, **data: Any) -> None:
            elapsed = time.perf_counter() - started
            self.emit(ToolProgressed(tool_use_id=call.id, tool_name=tool.name, text=text, elapsed=elapsed, data=data))

        work = asyncio.ensure_future(tool.call(permitted.candidate.parsed, permitted.found.ctx, progress))
        watch = asyncio.ensure_future(abort.wait())
        try:
            await asyncio.wait({work, watch}, return_when=asyncio.FIRST_COMPLETED)
            if not work.done() and not (abort.reason == "interrupt" and tool.interrupt_behavior() == "block"):
                await asyncio.wait({work}, timeout=CANCEL_GRACE)
                if not work.done():
                    work.cancel()
            result = await work
        except asyncio.CancelledError:
            if abort.reason is not None and work.done():
                raise Aborted(abort.reason) from None
            raise
        finally:
            watch.cancel()
            if not work.done():
                work.cancel()
                await asyncio.wait({work})
        return result

    async def _succeeded(self, permitted: Permitted, result: ToolResult, duration: float) -> CallResult:
        found, call = permitted.found, permitted.found.call
        data, notes, stop = result.data, list(permitted.notes), permitted.stop
        after = await self._post_tool_use(permitted, data, duration)
        if after is not None:
            data = data if after.updated_output is None else after.updated_output
            notes += [text for text in (after.reason if after.block else "", after.additional_context) if text]
            stop = stop or ((after.stop_reason or "a hook ended the turn") if after.stop else None)
        block = found.tool.to_result_block(data, call.id)
        if result.is_error:
            block = {**block, "is_error": True}
        block = self.results.fit(block, found.tool.max_result_chars, found.tool.name)
        for note in notes:
            block = with_text(block, note)
        return CallResult(
            call, block, data, tuple(result.new_messages), result.context_modifier, duration, permitted.ruling, stop
        )

    async def _post_tool_use(self, permitted: Permitted, data: Any, duration: float) -> PostToolUseOutcome | None:
        if not self.events.hears("post_tool_use"):
            return None
        value = PostToolUse(
            tool_name=permitted.found.tool.name,
            tool_input=permitted.ruling.request.tool_input,
            tool_response=data,
            tool_use_id=permitted.found.call.id,
            duration=duration,
        )
        return (await self.events.emit(on.post_tool_use, value)).outcome

    async def _failed(self, permitted: Permitted, error: Exception, duration: float) -> CallResult:
        found, call = permitted.found, permitted.found.call
        text = _failure_text(found.tool.name, error)
        notes = await self._tell_failure(
            call, permitted.ruling.request.tool_input, text, duration, interrupted=isinstance(error, Aborted)
        )
        block = error_block(call.id, text)
        block = self.results.fit(block, found.tool.max_result_chars, found.tool.name)
        for note in (*permitted.notes, *notes):
            block = with_text(block, note)
        return CallResult(call, block, duration=duration, ruling=permitted.ruling, stop=permitted.stop)

    async def _refused(self, call: ToolUse, refusal: Refused, duration: float) -> CallResult:
        notes = []
        if refusal.ruling is None:
            notes = await self._tell_failure(call, call.input, refusal.text, duration, interrupted=False)
        block = error_block(call.id, refusal.text)
        for note in notes:
            block = with_text(block, note)
        return self._finish(call, CallResult(call, block, ruling=refusal.ruling, stop=refusal.stop), call.name)

    async def _tell_failure(
        self, call: ToolUse, tool_input: Mapping[str, Any], text: str, duration: float, *, interrupted: bool
    ) -> list[str]:
        if not self.events.hears("post_tool_use_failure"):
            return []
        value = PostToolUseFailure(
            tool_name=call.name,
            tool_input=tool_input,
            tool_use_id=call.id,
            error=text,
            is_interrupt=interrupted,
            duration=duration,
        )
        outcome = (await self.events.emit(on.post_tool_use_failure, value)).outcome
        return [] if outcome is None else [note for note in (outcome.reason, outcome.additional_context) if note]

    def _finish(self, call: ToolUse, result: CallResult, summary: str, tool: Tool[Any] | None = None) -> CallResult:
        content = result.block["content"]
        text = content if isinstance(content, str) else "\n".join(str(part.get("text", "")) for part in content)
        view = tool.render_result(result.data) if tool is not None and not result.is_error else None
        self.emit(
            ToolFinished(
                tool_use_id=call.id,
                tool_name=call.name,
                summary=summary,
                is_error=result.is_error,
                text=text,
                view=view,
                duration=result.duration,
            )
        )
        return result


def _denial(verdict: Verdict, failure: str | None, retry: bool) -> str:
    if failure is not None and verdict.resolver == "PreToolUse hook":
        text = f"The call was not made because {failure}. This is not a decision of the user."
    elif verdict.resolver == "PreToolUse hook":
        text = f"A hook denied this call: {verdict.reason}"
    else:
        text = f"Permission denied: {verdict.reason}"
    return f"{text}\nYou may try again." if retry else text


def _rejection(reason: str, *, person: bool, stop: bool) -> str:
    if not person:
        return f"Permission denied: {reason}"
    said = f" They said: {reason}" if reason else ""
    then = " Stop here and wait for what the user says next." if stop or not reason else ""
    return f"The user refused this call.{said}{then}"


def _failure_text(name: str, error: Exception) -> str:
    if isinstance(error, Aborted):
        return ABORT_TEXTS.get(error.reason, str(error))
    if isinstance(error, ToolError):
        return error.for_model
    return f"{name} failed: {type(error).__name__}: {error}"
