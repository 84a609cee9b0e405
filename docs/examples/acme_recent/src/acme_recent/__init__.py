"""Keeps the last turns once the window is nearly full."""

from collections.abc import Sequence

from toolpost import CompactionStrategy, Context, Message


class KeepRecent(CompactionStrategy):
    turns: int = 20
    above: float = 0.8

    async def compact(self, context: Context) -> Sequence[Message] | None:
        return context.last_turns(self.turns) if context.fill > self.above else None
