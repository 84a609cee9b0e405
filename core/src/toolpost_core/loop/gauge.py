"""How many tokens a request has: what the service reported, and a corrected estimate of what came since."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from toolpost import StashKey
from toolpost.tokens import tokens_of
from toolpost_core.loop.estimate import overhead_of, since_answer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolpost import Message, ModelRequest, Stash

LEAST: Final = 200
"""Estimated tokens below which a report says nothing of the estimate."""
FORGETS: Final = 0.7
"""What older reports count beside a new one: what a conversation holds changes."""
LOWEST: Final = 0.5
HIGHEST: Final = 2.5
"""No text is further from the estimate: a report that says so counts something else."""


@dataclass
class Gauge:
    """The measure of one session.

    `overhead` is what a request has beside its messages: the system prompt and the tools. `scale` turns estimates into
    tokens. `error` is by how much the last request's estimate was off, as a share of what the service then reported; None
    before that. `warned` says that the person was told how full it is. `_summed` has the messages that were estimated last,
    each with the estimate of all up to it.
    """

    overhead: int = 0
    scale: float = 1.0
    error: float | None = None
    warned: bool = False
    _settled: bool = False
    _estimated: float = 0.0
    _reported: float = 0.0
    _known: int = 0
    _fresh: int = 0
    _summed: list[tuple[Message, int]] = field(default_factory=list)

    def messages(self, messages: Sequence[Message]) -> int:
        """Return the tokens of messages."""
        return round(tokens_of(messages) * self.scale)

    def used(self, messages: Sequence[Message], reported: int) -> int:
        """Return the tokens of a request; `reported` is what the last one and its answer had, 0 where nothing is known."""
        if reported:
            return reported + self.messages(since_answer(messages))
        return self.overhead + self.messages(messages)

    def scale_of(self, messages: Sequence[Message], reported: int) -> float:
        """Return how many tokens the service counted for each that is estimated of these messages."""
        counted = reported - self.overhead
        estimated = self._estimate(messages[: len(messages) - len(since_answer(messages))])
        return counted / estimated if counted > 0 and estimated else self.scale

    def _estimate(self, messages: Sequence[Message]) -> int:
        """Estimate messages, of which all but the last were estimated before the last request: it is asked before each."""
        summed = self._summed
        same = 0
        for (known, _), message in zip(summed, messages, strict=False):
            if known is not message:
                break
            same += 1
        del summed[same:]
        total = summed[-1][1] if summed else 0
        for message in messages[same:]:
            total += tokens_of((message,))
            summed.append((message, total))
        return total

    def changed(self, before: Sequence[Message], after: Sequence[Message], scale: float) -> int:
        """Return what stands for the report that the change of a conversation made void; `scale` is that of `before`."""
        stayed = {id(message) for message in before}
        answered = after[: len(after) - len(since_answer(after))]
        tokens = sum(tokens_of((message,)) * (scale if id(message) in stayed else self.scale) for message in answered)
        return self.overhead + round(tokens) if answered else 0

    def measured(self, request: ModelRequest) -> None:
        """Estimate what requests have beside their messages, where nothing is known of it yet."""
        if not self.overhead:
            self.overhead = overhead_of(request)

    def asked(self, request: ModelRequest, reported: int) -> None:
        """Note a request as it is sent."""
        self.measured(request)
        self._known = reported or self.overhead
        self._fresh = tokens_of(since_answer(request.messages) if reported else request.messages)

    def answered(self, prompt: int) -> None:
        """Hold the request that was noted against the number of tokens that the service counted for it."""
        if not prompt or not self._known:
            return
        self.error = (self._known + self._fresh * self.scale - prompt) / prompt
        if not self._settled:
            self._settled = True
            # The first report tells the two apart: what is far from the estimate is not the system prompt's alone.
            rest = round(prompt - self._fresh * self.scale)
            self._known = self.overhead = min(max(rest, self.overhead // 2), self.overhead * 2)
        if self._fresh >= LEAST:
            self._estimated = self._estimated * FORGETS + self._fresh
            self._reported = self._reported * FORGETS + prompt - self._known
            self.scale = min(max(self._reported / self._estimated, LOWEST), HIGHEST)
        self._known = 0


GAUGE: Final = StashKey[Gauge]("core.gauge")


def gauge_of(stash: Stash) -> Gauge:
    """Return the measure of the session that a stash belongs to."""
    return stash.setdefault(GAUGE, Gauge())
