"""Clears old tool results before the window is full."""

from __future__ import annotations

from typing import ClassVar

from toolpost import CompactionResult, CompactionStrategy, Context


class Micro(CompactionStrategy):
    """Replaces the results of old calls by a fixed text, where that is worth more than the prompt cache it costs.

    It is where the window is fuller than `above` and at least `min_tokens` come free; where nobody asked for `idle`
    seconds, since the cache is then gone anyway; and before a summary. The newest `keep` results, and pictures and
    documents that a person sent, stay; so do the lines of a result that tell of errors.
    """

    order: ClassVar[int] = 10

    tools: tuple[str, ...] = ("Read", "Bash", "Grep", "Glob", "WebSearch", "WebFetch", "Edit", "Write")
    keep: int = 5
    above: float = 0.5
    min_tokens: int = 20_000
    idle: float = 3_600.0

    def applies(self, context: Context) -> float:
        """Whether to look at all: most requests are told no without reading the conversation."""
        return context.fill >= self.above or self._any_gain_counts(context)

    async def compact(self, context: Context) -> CompactionResult | None:
        """Return the conversation with old results cleared, or None where that is not worth it."""
        from toolpost_compaction_micro.clearing import cleared, old_places, with_cleared

        found = cleared(context.messages, old_places(context.messages, self.tools, self.keep))
        least = 1 if self._any_gain_counts(context) else self.min_tokens
        if sum(one.gain for one in found.values()) * context.scale < least:
            return None
        return context.result(with_cleared(context.messages, found))

    def _any_gain_counts(self, context: Context) -> bool:
        return context.trigger != "before_request" or context.idle > self.idle
