"""Shortens a conversation that the service refused as too long."""

from __future__ import annotations

from typing import ClassVar, Final

from toolpost import CompactionResult, CompactionStrategy, Context, Digest, ProviderError, Trigger

INSTRUCTION: Final = """\
The conversation is too long to go on: what stands above will be replaced by your summary of it, and newer messages, which
you do not see here, follow. Call no tool. Write between <summary> and </summary> what is needed to go on: the task, what the
user said must or must not be, what was done and decided, file paths, and errors word for word. Be exact and short."""


class Reactive(CompactionStrategy):
    """Keeps the newest rounds and sums up the rest, with the model's help or without."""

    order: ClassVar[int] = 90
    triggers: ClassVar[tuple[Trigger, ...]] = ("prompt_too_long",)
    summarizes: ClassVar[bool] = True

    keep: float = 0.25
    words: int = 8_000
    findings: int = 3_000
    retries: int = 0

    async def compact(self, context: Context) -> CompactionResult | None:
        """Return the shorter conversation; None where all that is old was shortened before."""
        head = context.messages[: self._start(context)]
        if not Digest.fresh_in(head):
            return None
        try:
            summary = await context.summary_of(head, INSTRUCTION, retries=self.retries)
        except ProviderError:
            summary = ""
        digest = context.digest(head, summary, words=self.words, findings=self.findings)
        return context.result(context.begun_with(digest.text, len(head)), digest.text)

    def _start(self, context: Context) -> int:
        """Return from where messages stay; the length where the last one is too long by itself.

        The beginning and the end of such a prompt are among the words that are carried over.
        """
        if context.tokens(Digest.fresh_in(context.messages[-1:])) > context.budget:
            return len(context.messages)
        return context.newest(int(self.keep * context.window))
