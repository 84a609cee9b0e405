"""What a session does about compaction: its thresholds, what is kept of a change, what the model is told again."""

from __future__ import annotations

from functools import cached_property
from itertools import takewhile, zip_longest
from typing import TYPE_CHECKING, Any, Final

import toolpost
from toolpost._frozen import frozen
from toolpost_core.loop.messages import blocks_of
from toolpost_core.loop.thresholds import Policy, Thresholds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolpost import Message, ModelRequest
    from toolpost_core.loop.compacting import Step
    from toolpost_core.session.inner import Inner

AGAIN_TOKENS: Final = 50_000
"""What is attached again after a summary may have so many tokens in all, and a quarter of the window."""
EACH_TOKENS: Final = 5_000


@frozen()
class Compaction:
    """Compaction as one session has it."""

    session: Inner

    @cached_property
    def policy(self) -> Policy:
        """What settings and environment say."""
        return Policy.of(self.session.parts.settings.values, self.session.parts.env)

    def thresholds(self) -> Thresholds:
        """Return the thresholds of the model in use."""
        session = self.session
        return Thresholds.of(session.model, session.model_in_use.wanted, self.policy)

    async def count(self, request: ModelRequest) -> int | None:
        """Let the service count; None where it can't."""
        return await self.session.model_in_use.provider.count_tokens(request)

    def said(self) -> Sequence[str] | None:
        """Return every prompt of the session; None where its transcript can't be read any more."""
        try:
            return [prompt.text for prompt in self.session.prompt_log.all()]
        except toolpost.SessionError as error:
            self.session.warn(f"What you wrote is carried over as far as the conversation shows it: {error}")
            return None

    def record(self, step: Step, tokens: int) -> tuple[Message, ...]:
        """Keep a change for who resumes; return the messages as they are then read.

        It is said aloud where a summary stands for what was said.
        """
        from toolpost_core.loop.summaries import asked_by

        session, messages = self.session, tuple(step.result.messages)
        # What a Read showed may be gone: the next one shows it again.
        session.surroundings.ctx.reads.clear_shown()
        trigger, before = asked_by(step.before), step.before.used
        told = f"{step.named.plugin}: {before:,} tokens became {tokens:,}."
        if not step.named.strategy.summarizes and trigger == "manual":
            session.emit(toolpost.Notice(f"Old parts of the conversation were cleared by {told}"))
        replaced = replaced_results(step.before.messages, messages)
        if replaced is not None:
            for name, content in replaced.items():
                session.transcript.replace(name, content)
            return messages
        messages = session.transcript.boundary(
            messages,
            session.cwd,
            kept=_same_at_the_end(step.before.messages, messages),
            trigger=trigger,
            pre_tokens=before,
            postTokens=tokens,
            strategy=step.named.plugin,
            keptMessages=len(step.result.kept),
            droppedMessages=len(step.result.dropped),
        )
        if step.named.strategy.summarizes:
            facts = {"trigger": trigger, "pre_tokens": before, "post_tokens": tokens}
            text = f"The conversation was compacted by {told}"
            session.emit(toolpost.Notice(text, kind="compact_boundary", data={"compact_metadata": facts}))
        return messages

    async def restarted(self, step: Step) -> Sequence[str]:
        """Return what the model is to read beside a summary: instructions, what plugins attach again, what hooks say."""
        from toolpost_core.prompt.blocks import reminder

        session = self.session
        user = (await session.prompt.anew()).user
        standing = [user] if user and not _holds(step.result.messages, user) else []
        told = await session.around().restarted()
        return [*standing, *await self._attached(step), *map(reminder, told)]

    async def _attached(self, step: Step) -> Sequence[str]:
        from toolpost_core.prompt.again import attached

        session = self.session
        compacted = toolpost.Compacted(before=step.before.messages, left=step.result.messages)
        budget = min(AGAIN_TOKENS, self.thresholds().effective // 4)
        return await attached(
            session.prompt.sources(), session.scope(), compacted, session.warn, each=EACH_TOKENS, budget=budget
        )


def replaced_results(before: Sequence[Message], after: Sequence[Message]) -> dict[str, Any] | None:
    """Return the contents that results were given, by the ids of their calls; None where anything else is different."""
    if len(before) != len(after):
        return None
    found: dict[str, Any] = {}
    for old, new in zip(before, after, strict=True):
        if old is new:
            continue
        pairs: Any = zip_longest(blocks_of(old), blocks_of(new), fillvalue={})
        for one, other in pairs:
            if one == other:
                continue
            if one.get("type") != "tool_result" or {**one, "content": 0} != {**other, "content": 0}:
                return None
            found[str(one["tool_use_id"])] = other["content"]
    return found


def _same_at_the_end(before: Sequence[Message], after: Sequence[Message]) -> int:
    """Count the messages at the end that stayed as they were."""
    return sum(
        1 for _ in takewhile(lambda pair: pair[0] is pair[1], zip(reversed(before), reversed(after), strict=False))
    )


def _holds(messages: Sequence[Message], text: str) -> bool:
    return any(text in str(block.get("text", "")) for message in messages for block in blocks_of(message))
