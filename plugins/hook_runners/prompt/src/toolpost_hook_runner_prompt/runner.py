"""The runner: asks the model, and turns its verdict into a hook's answer (compat.md 2.3)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Final

from toolpost import HookAnswer, HookJob, HookRunner, SessionScope, ToolpostError

if TYPE_CHECKING:
    from .question import Verdict

MOST_TOKENS: Final = 500
_NO_EFFECT: Final = ("PermissionRequest", "PermissionDenied")
"""Events at which a refusal counts for nothing."""
_GOES_ON: Final = ("Stop", "SubagentStop")
"""Events at which a refusal makes the model go on."""


class PromptRunner(HookRunner):
    """Puts the hook's prompt, with the event's JSON in it, to a model that answers yes or no.

    `model` is an alias or id for hooks that name none; empty for the provider's small one.
    """

    type: ClassVar[str] = "prompt"

    model: str = ""

    async def run(self, job: HookJob, scope: SessionScope) -> HookAnswer:
        """Ask within the hook's time; what is no clear verdict is a failure."""
        began = time.monotonic()
        try:
            async with asyncio.timeout(job.timeout):
                answer = await self._asked(job, scope)
        except TimeoutError:
            reason = f"the model had no answer after {job.timeout:g} s"
            answer = HookAnswer(status="timed_out", reason=reason)
        except ToolpostError as error:
            answer = HookAnswer(status="failed", reason=f"the model could not be asked: {error}")
        return replace(answer, duration=time.monotonic() - began)

    async def _asked(self, job: HookJob, scope: SessionScope) -> HookAnswer:
        from toolpost import ModelRequest, SystemBlock
        from toolpost.services import Models

        from . import question

        text = job.handler.get("prompt")
        if not isinstance(text, str) or not text.strip():
            return HookAnswer(status="failed", reason=f"{job.source or 'the hook'} needs a 'prompt' that is a text")
        if scope.services is None:
            return HookAnswer(status="failed", reason="there is no session whose model could be asked")
        models = scope.services.get(Models)
        said = await models.ask(
            ModelRequest(
                model=str(job.handler.get("model") or self.model or models.small),
                system=[SystemBlock(question.INSTRUCTIONS)],
                messages=[{"role": "user", "content": job.filled(text)}],
                max_tokens=MOST_TOKENS,
                purpose="hook",
            )
        )
        verdict = question.read(said)
        if verdict is None:
            return HookAnswer(status="failed", reason=f"the model's answer is no verdict: {said[:200]!r}")
        return _answer(verdict, job.event, job.handler)


def _answer(verdict: Verdict, event: str, handler: Mapping[str, Any]) -> HookAnswer:
    if verdict.ok or event in _NO_EFFECT:
        return HookAnswer(status="ok")
    if verdict.impossible and event in _GOES_ON:
        told = f"A hook let the turn end though its condition is not met: {verdict.reason}"
        return HookAnswer(status="ok", output={"systemMessage": told})
    ends_turn = event == "PreToolUse" and handler.get("continueOnBlock") is not True
    output = {"continue": False, "stopReason": verdict.reason} if ends_turn else {}
    return HookAnswer(status="blocked", reason=verdict.reason, output=output)
