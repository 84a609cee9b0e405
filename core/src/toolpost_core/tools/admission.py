"""The gates in front of a call: its input, its tool's own check, listeners, rules and the person."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from toolpost import InvalidInput, ToolError
from toolpost._frozen import frozen
from toolpost_core.permissions import places
from toolpost_core.permissions.denials import advice, notice
from toolpost_core.tools import texts
from toolpost_core.tools.answers import stop_of
from toolpost_core.tools.calls import Found, Permitted, PutOff, Refused
from toolpost_core.tools.permit import Candidate, parse
from toolpost_core.tools.shown import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from toolpost import ToolUse
    from toolpost.events.tool import PreToolUseOutcome
    from toolpost_core.events.dispatch import Emission
    from toolpost_core.tools.abort import AbortNode
    from toolpost_core.tools.permit import Circumstances, Interview, Permitter, Ruling
    from toolpost_core.tools.pool import Pool
    from toolpost_core.tools.told import Told


@frozen()
class Admission:
    """Lets calls pass or refuses them. `around` says what decisions depend on at this moment.

    `record` keeps each decision. `defers` says that a call which a hook puts off can wait for a later run.
    """

    pool: Pool
    told: Told
    permitter: Permitter
    interview: Interview
    around: Callable[[], Circumstances]
    record: Callable[[ToolUse, Ruling, str], None]
    defers: bool = False

    async def admit(self, found: Found, abort: AbortNode) -> Permitted:
        """Ask every gate; raises Refused where one refuses, and PutOff where a hook puts the call off."""
        candidate = self._check_input(found)
        await self._validate(found, candidate)
        return await self._permit(found, candidate, abort)

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
        verdict, call, stop = ruling.verdict, found.call, stop_of(hook.outcome)
        if self.defers and stop is None and verdict.wanted != "deny" and _defers(hook.outcome):
            raise PutOff
        if verdict.behavior == "allow":
            self.record(call, ruling, "allow")
            return Permitted(found, ruling.candidate, ruling, notes, stop)
        if verdict.wanted == "deny":
            self.record(call, ruling, "deny")
            text = texts.denial(verdict, hook.failure)
            raise Refused(text + await self._counted(found, ruling), ruling, stop=stop)
        title = shown(lambda: found.tool.description(ruling.candidate.parsed), found.tool.name)
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


def _defers(outcome: PreToolUseOutcome | None) -> bool:
    return outcome is not None and outcome.decision == "defer"
