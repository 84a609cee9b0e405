"""Cuts the middle out of long texts that are old."""

from __future__ import annotations

from typing import ClassVar

from toolpost import CompactionResult, CompactionStrategy, Context


class Snip(CompactionStrategy):
    """Leaves beginning and end of long results and inputs in all but the newest messages."""

    order: ClassVar[int] = 20

    longest: int = 2_000
    keep: int = 10
    above: float = 0.6
    min_tokens: int = 20_000

    def applies(self, context: Context) -> float:
        """Whether to look at all."""
        return context.fill >= self.above or context.trigger != "before_request"

    async def compact(self, context: Context) -> CompactionResult | None:
        """Return the conversation with long texts cut; None where that is not worth the prompt cache."""
        from toolpost_compaction_snip.cutting import cut

        old = len(context.messages) - self.keep
        messages = [
            cut(message, self.longest) if index < old else message for index, message in enumerate(context.messages)
        ]
        freed = context.tokens(context.messages) - context.tokens(messages)
        least = self.min_tokens if context.trigger == "before_request" else 1
        return context.result(messages) if freed >= least else None
