"""The resolver: what is asked of the model, and what its answer comes to."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, ClassVar

from toolpost import Allow, Ask, Decision, Deny, PermissionRequest, PermissionResolver, ToolpostError
from toolpost.permissions import PermissionMode

if TYPE_CHECKING:
    from .judgement import Judgement

MOST_CHARS = 20_000
"""Characters of a call's input that are judged; a longer one is the person's to decide on."""


class Classifier(PermissionResolver):
    """Asks a small model in the mode auto.

    `model` is an alias or id; empty for the provider's small one. `timeout` is in seconds.
    """

    last_resort: ClassVar[tuple[PermissionMode, ...]] = ("auto",)

    model: str = ""
    timeout: float = 15.0

    async def resolve(self, request: PermissionRequest) -> Decision | None:
        """Allow what the model clearly allows; ask where it has no answer in time."""
        if request.session is None or request.session.services is None:
            return None
        if not request.described:
            return Ask("auto mode can't judge this call: its tool gives the classifier nothing to read")
        if len(request.described) > MOST_CHARS:
            return Ask(f"auto mode judges calls of up to {MOST_CHARS:,} characters; this one is longer")
        try:
            async with asyncio.timeout(self.timeout):
                judgement = await self._judge(request)
        except TimeoutError:
            return Ask(f"the classifier of auto mode had no answer after {self.timeout:g} s")
        except ToolpostError as error:
            return Ask(f"the classifier of auto mode could not be asked: {error}")
        return _decision(judgement, request)

    async def _judge(self, request: PermissionRequest) -> Judgement | None:
        from toolpost import ModelRequest, SystemBlock
        from toolpost.services import Models

        from . import facts, judgement

        assert request.session is not None
        assert request.session.services is not None
        models = request.session.services.get(Models)
        answer = await models.ask(
            ModelRequest(
                model=self.model or models.small,
                system=[SystemBlock(judgement.instructions(request.session.settings.get("autoMode")), cache=True)],
                messages=[{"role": "user", "content": facts.told(request)}],
                max_tokens=judgement.MOST_TOKENS,
                purpose="permission",
            )
        )
        return judgement.read(answer)


def _decision(judgement: Judgement | None, request: PermissionRequest) -> Decision:
    if judgement is None:
        return Ask("the classifier of auto mode gave no clear answer")
    if judgement.verdict == "allow":
        return Allow(f"auto mode: {judgement.reason}")
    if judgement.verdict == "soft_deny" and request.denials.too_many and request.scope.interactive:
        return Ask(f"auto mode has refused such calls again and again, the last time because {judgement.reason}")
    return Deny(f"auto mode: {judgement.reason}")
