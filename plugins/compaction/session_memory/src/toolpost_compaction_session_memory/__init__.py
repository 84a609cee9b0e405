"""Keeps the newest rounds and the notes on a session."""

from __future__ import annotations

from typing import ClassVar

from toolpost import CompactionResult, CompactionStrategy, Context, Digest, MissingService, Trigger

WITH_NOTES = 2.0
WITHOUT = 0.5
"""Less than a summary has: better than nothing, where there is none."""


class SessionMemory(CompactionStrategy):
    """Puts the notes on the session in the place of all but the newest messages, without asking the model."""

    order: ClassVar[int] = 100
    triggers: ClassVar[tuple[Trigger, ...]] = ("auto", "manual")
    summarizes: ClassVar[bool] = True

    min_tokens: int = 10_000
    min_texts: int = 5
    max_tokens: int = 40_000
    words: int = 8_000
    findings: int = 3_000

    def applies(self, context: Context) -> float:
        """Before a summary where there are notes, after it where there are none."""
        return WITH_NOTES if not context.instructions and _notes(context) else WITHOUT

    async def compact(self, context: Context) -> CompactionResult | None:
        """Return the notes and the newest messages; None where all of them would stay."""
        start = self._start(context)
        old = context.messages[:start]
        if not Digest.fresh_in(old):
            return None
        digest = context.digest(old, _notes(context), words=self.words, findings=self.findings)
        return context.result(context.begun_with(digest.text, start), digest.text)

    def _start(self, context: Context) -> int:
        """Return from where messages stay: both lower limits are met there, unless that is over the upper one."""
        most = min(self.max_tokens, context.budget)
        floor = context.newest(most)
        tokens, texts = 0, 0
        for index in range(len(context.messages) - 1, floor - 1, -1):
            message = context.messages[index]
            tokens += context.tokens((message,))
            texts += _has_text(message["content"])
            if tokens >= self.min_tokens and texts >= self.min_texts:
                return max(context.cut_before(index), floor)
        return floor


def _notes(context: Context) -> str:
    from toolpost.services import SessionNotes

    if context.services is None:
        return ""
    try:
        return context.services.get(SessionNotes).read()
    except MissingService:
        return ""


def _has_text(content: object) -> bool:
    return isinstance(content, str) or (isinstance(content, list) and any(block["type"] == "text" for block in content))
