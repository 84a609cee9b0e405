"""Compaction strategies: what of a conversation is kept when the window fills."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import ClassVar, Literal

from toolpost._hooks import hookimpl
from toolpost._plugin import Plugin
from toolpost.messages import Message
from toolpost.providers import ModelRequest
from toolpost.stash import Stash


@dataclass(frozen=True, kw_only=True)
class Context:
    """A conversation before a request.

    `used` and `window` are in tokens; `used` is what the service counted for the last request plus an estimate of what
    came since. `idle` is the time in seconds since the model last answered. `ask` sends a request of the strategy's own
    to the model, within the session's budget, and returns the answer's text.
    """

    messages: Sequence[Message]
    used: int = 0
    window: int = 200_000
    trigger: Literal["before_request", "auto", "manual", "prompt_too_long"] = "before_request"
    instructions: str = ""
    idle: float = 0.0
    now: datetime | None = None
    ask: Callable[[ModelRequest], Awaitable[str]] | None = None
    stash: Stash = field(default_factory=Stash)

    @property
    def fill(self) -> float:
        """The share of the window that is used, from 0 to 1 (over 1 where it does not fit)."""
        return self.used / self.window if self.window else 0.0

    def last_turns(self, turns: int) -> Sequence[Message]:
        """Return the newest messages from the `turns`-th last one that a person wrote; no call is cut from its result."""
        starts = [index for index, message in enumerate(self.messages) if _is_prompt(message)]
        return self.messages[starts[-turns] :] if turns and len(starts) > turns else self.messages


class CompactionStrategy(Plugin, ABC):
    """Makes a conversation shorter. Strategies are asked in the order of `order`; each sees what the last one made.

    class KeepRecent(CompactionStrategy):
        turns: int = 20
        above: float = 0.8

        async def compact(self, context: Context) -> Sequence[Message] | None:
            return context.last_turns(self.turns) if context.fill > self.above else None
    """

    order: ClassVar[int] = 100
    """Cheap strategies come first: clearing results 10, collapsing 50, summaries 100."""

    summarizes: ClassVar[bool] = False
    """Whether it puts a summary in the place of what was said: PreCompact and PostCompact listeners are then told."""

    def due(self, context: Context) -> bool:
        """Whether `compact` would do something now. A strategy that summarizes says so before listeners are asked."""
        del context
        return True

    @abstractmethod
    async def compact(self, context: Context) -> Sequence[Message] | None:
        """Return the messages to go on with, or None to leave them. Messages that stay must be the same objects.

        Every `tool_use` must keep its `tool_result`. One that raises is reported and passed over.
        """

    @hookimpl(specname="compaction")
    def _compaction(self) -> Sequence[CompactionStrategy]:
        return (self,)


def _is_prompt(message: Message) -> bool:
    content = message["content"]
    if message["role"] != "user":
        return False
    return isinstance(content, str) or not any(block["type"] == "tool_result" for block in content)
