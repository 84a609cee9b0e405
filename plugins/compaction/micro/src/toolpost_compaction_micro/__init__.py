"""Clears old tool results before the window is full."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from toolpost import CompactionStrategy, Context, Message, StashKey

CLEARED = StashKey[frozenset[str]]("micro.cleared")
"""The ids of the calls whose results were cleared in this session: they stay so, with the same bytes."""


class Micro(CompactionStrategy):
    """Replaces the results of old calls by a fixed text, where that is worth more than the prompt cache it costs.

    It is where the window is fuller than `above` and at least `min_tokens` come free; where nobody asked for `idle`
    seconds, since the cache is then gone anyway; and before a summary. The newest `keep` results stay.
    """

    order: ClassVar[int] = 10

    tools: tuple[str, ...] = ("Read", "Bash", "Grep", "Glob", "WebSearch", "WebFetch", "Edit", "Write")
    keep: int = 5
    above: float = 0.5
    min_tokens: int = 20_000
    idle: float = 3_600.0

    async def compact(self, context: Context) -> Sequence[Message] | None:
        """Return the conversation with old results cleared, or None where none is."""
        before = context.stash.get(CLEARED, frozenset())
        if not before and not self._due(context):
            return None
        from toolpost_compaction_micro.clearing import clear, gain, old_results

        old = old_results(context.messages, self.tools, self.keep)
        freed = sum(gain(result) for result in old if result["tool_use_id"] not in before)
        cleared = before
        if freed > 0 and self._worth(context, freed):
            cleared = before | {result["tool_use_id"] for result in old if gain(result) > 0}
            context.stash[CLEARED] = cleared
        return clear(context.messages, cleared) if cleared else None

    def _due(self, context: Context) -> bool:
        """Whether to look at all: most requests are told so without reading the conversation."""
        return context.fill >= self.above or context.trigger != "before_request" or context.idle > self.idle

    def _worth(self, context: Context, freed: int) -> bool:
        if context.trigger != "before_request" or context.idle > self.idle:
            return True
        return context.fill >= self.above and freed >= self.min_tokens
