"""Sums up the part of a conversation that a person chose."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final

from toolpost import CompactionResult, CompactionStrategy, Context, Digest, Message, Trigger

INSTRUCTION: Final = """\
Write a summary of {part}; it will stand in the place of that part, and the rest stays as it is. Call no tool. Write
between <summary> and </summary> what is needed of it to go on: what was asked for, what the user said must or must not be,
what was done and decided, file paths, and errors word for word. Be exact and short."""
ALL: Final = "the conversation above"
LATER: Final = "what was said from the user's message on that begins with {begin!r}"


class Partial(CompactionStrategy):
    """Puts a summary in the place of what stands before a message, or of it and all after it."""

    order: ClassVar[int] = 100
    triggers: ClassVar[tuple[Trigger, ...]] = ("partial",)
    summarizes: ClassVar[bool] = True

    words: int = 8_000
    findings: int = 3_000
    retries: int = 3

    async def compact(self, context: Context) -> CompactionResult | None:
        """Ask for the summary. Raises ProviderError where the model gives none."""
        if context.part is None or not context.messages:
            return None
        messages = context.messages
        place = context.cut_before(min(context.part.index, len(messages)))
        later = context.part.direction == "from"
        chosen = messages[place:] if later else messages[:place]
        if not Digest.fresh_in(chosen):
            return None
        # All of it is shown for a later part: what stands before it is in the prompt cache, and explains it.
        shown = messages if later else chosen
        what = LATER.format(begin=_beginning(chosen)) if later else ALL
        asked = INSTRUCTION.format(part=what)
        if context.instructions:
            asked += f"\n\nThe user says about it: {context.instructions}"
        summary = await context.summary_of(shown, asked, retries=self.retries)
        digest = context.digest(chosen, summary, words=self.words, findings=self.findings)
        made = context.ended_with(digest.text, place) if later else context.begun_with(digest.text, place)
        return context.result(made, digest.text)


def _beginning(messages: Sequence[Message]) -> str:
    from toolpost.messages import text_of

    return text_of(messages[0])[:80]
