"""Lets the model sum up a conversation that gets too long."""

from __future__ import annotations

from typing import ClassVar, Final

from toolpost import CompactionResult, CompactionStrategy, Context, Digest, Trigger

LEAST: Final = 400
"""Tokens that a handover has at least, with what stands round it."""


class Summary(CompactionStrategy):
    """Puts a handover, written by the model, in the place of all but the newest rounds."""

    order: ClassVar[int] = 100
    triggers: ClassVar[tuple[Trigger, ...]] = ("auto", "manual")
    summarizes: ClassVar[bool] = True

    keep: int = 5_000
    words: int = 8_000
    findings: int = 3_000
    retries: int = 3

    async def compact(self, context: Context) -> CompactionResult | None:
        """Ask for the handover. Raises ProviderError where the model gives none."""
        from toolpost_compaction_summary.prompt import instruction

        # Who asks for it wants all of it gone, but not a summary that is longer than what it sums up.
        start = len(context.messages) if context.trigger == "manual" else context.newest(self.keep)
        old = context.messages[:start]
        if context.tokens(Digest.fresh_in(old)) < LEAST:
            return None
        # As it was sent, not as other strategies left it: that is what the cache holds.
        sent = context.request.messages if context.request is not None else context.messages
        shown = sent if len(sent) == len(context.messages) else context.messages
        summary = await context.summary_of(shown[:start], instruction(context.instructions), retries=self.retries)
        digest = context.digest(old, summary, words=self.words, findings=self.findings)
        return context.result(context.begun_with(digest.text, start), digest.text)
