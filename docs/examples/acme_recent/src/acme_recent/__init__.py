"""Keeps the last turns once the window is nearly full."""

from toolpost import CompactionResult, CompactionStrategy, Context


class KeepRecent(CompactionStrategy):
    turns: int = 20
    above: float = 0.8

    def applies(self, context: Context) -> float:
        return context.fill > self.above

    async def compact(self, context: Context) -> CompactionResult | None:
        return context.result(context.last_turns(self.turns))
