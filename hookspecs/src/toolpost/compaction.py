"""Compaction strategies: what of a conversation is kept when the window fills."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import field
from datetime import datetime
from typing import TYPE_CHECKING, ClassVar, Final, Literal, TypeAlias

from toolpost._frozen import frozen
from toolpost._hooks import hookimpl
from toolpost._plugin import Plugin
from toolpost.messages import Message
from toolpost.providers import ModelRequest
from toolpost.stash import Stash

if TYPE_CHECKING:
    from toolpost._summaries import Digest
    from toolpost.services import Services

Trigger: TypeAlias = Literal["before_request", "auto", "manual", "partial", "prompt_too_long"]
"""Why a strategy is asked.

`before_request` comes each time; `auto` instead of it where the conversation is over its threshold; `manual` and `partial`
where a person asks for it, the latter for a part that they chose; `prompt_too_long` after the service refused a request.
"""
ALWAYS: Final[tuple[Trigger, ...]] = ("before_request", "auto", "manual", "prompt_too_long")


@frozen()
class Part:
    """The part that a person chose: what stands before the message at `index` (`up_to`), or it and all after it (`from`)."""

    direction: Literal["up_to", "from"]
    index: int


@frozen(kw_only=True)
class CompactionResult:
    """What a strategy made of a conversation: `Context.result` fills all of it from the first two.

    `boundary` is the text that stands for what is gone, empty where nothing does. `kept` and `dropped` are indexes into
    the conversation that it was given; a message that was changed is among the latter. `tokens` is an estimate of what
    `messages` have.
    """

    messages: Sequence[Message]
    boundary: str = ""
    kept: Sequence[int] = ()
    dropped: Sequence[int] = ()
    tokens: int = 0


@frozen(kw_only=True)
class Context:
    """A conversation before a request.

    `used`, `window` and `budget` are in tokens. `used` is what the service counted for the last request plus an estimate
    of what came since, `window` what a request may have beside its answer, `budget` what should be left of the
    conversation. `idle` is the time in seconds since the model last answered. `scale` is how many tokens the service
    counts in this conversation for each that is estimated. `part` is set where the trigger is `partial`.

    `request` is the one that would be sent now and `ask` sends one of the strategy's own, within the session's budget,
    and returns the answer's text; both are None where no model can be asked. `services` has what other plugins offer.
    `said` returns every prompt of the session, None where they are not known.
    """

    messages: Sequence[Message]
    used: int = 0
    window: int = 200_000
    budget: int = 100_000
    trigger: Trigger = "before_request"
    instructions: str = ""
    part: Part | None = None
    idle: float = 0.0
    now: datetime | None = None
    scale: float = 1.0
    request: ModelRequest | None = None
    ask: Callable[[ModelRequest], Awaitable[str]] | None = None
    said: Callable[[], Sequence[str] | None] = lambda: None
    services: Services | None = None
    stash: Stash = field(default_factory=Stash)

    @property
    def fill(self) -> float:
        """The share of the window that is used, from 0 to 1 (over 1 where it does not fit)."""
        return self.used / self.window if self.window else 0.0

    def tokens(self, messages: Sequence[Message]) -> int:
        """Estimate the tokens of messages."""
        from toolpost.tokens import tokens_of

        return round(tokens_of(messages) * self.scale)

    def last_turns(self, turns: int) -> Sequence[Message]:
        """Return the newest messages from the `turns`-th last one that a person wrote; no call is cut from its result."""
        from toolpost._rounds import prompts_of

        starts = prompts_of(self.messages)
        return self.messages[starts[-turns] :] if turns and len(starts) > turns else self.messages

    def newest(self, tokens: int) -> int:
        """Return from where the newest messages stay that have at most so many tokens; no call is cut from its result.

        Digests and reminders do not count. A prompt that is not answered yet stays however long it is. The length of the
        conversation where nothing does.
        """
        from toolpost._rounds import is_prompt, tail_within

        start = tail_within(self.messages, tokens, scale=self.scale)
        return min(start, len(self.messages) - 1) if self.messages and is_prompt(self.messages[-1]) else start

    def cut_before(self, index: int) -> int:
        """Return the nearest index at or before one where the conversation can be cut: no call is cut from its result."""
        from toolpost._rounds import cut_before

        return cut_before(self.messages, index)

    def begun_with(self, text: str, start: int) -> list[Message]:
        """Return the messages from `start` on behind a text: a message of its own, or part of the prompt that follows."""
        from toolpost._rounds import begun_with

        return begun_with(text, self.messages[start:])

    def ended_with(self, text: str, end: int) -> list[Message]:
        """Return the messages before `end` with a text behind them: a message of its own, or part of the results before."""
        from toolpost._rounds import ended_with

        return ended_with(self.messages[:end], text)

    def result(self, messages: Sequence[Message], boundary: str = "") -> CompactionResult | None:
        """Return a result with the messages to go on with; None where they are those of the conversation.

        `boundary` is the text among them that stands for what is gone.
        """
        stays = {id(message) for message in messages}
        kept = tuple(index for index, message in enumerate(self.messages) if id(message) in stays)
        if len(kept) == len(self.messages) == len(messages):
            return None
        gone = tuple(index for index, message in enumerate(self.messages) if id(message) not in stays)
        return CompactionResult(
            messages=messages, boundary=boundary, kept=kept, dropped=gone, tokens=self.tokens(messages)
        )

    def digest(
        self, messages: Sequence[Message], summary: str = "", *, words: int = 8_000, findings: int = 3_000
    ) -> Digest:
        """Return what can stand for messages: a summary, the person's own words (as many tokens at most), and the files.

        In `findings` tokens stand sentences of the model's, and the newest errors.
        """
        from toolpost._summaries import Digest

        return Digest.of(messages, summary, said_tokens=words, findings_tokens=findings, prompts=self.said())

    async def summary_of(self, messages: Sequence[Message], instruction: str, *, retries: int = 3) -> str:
        """Let the model sum up messages, through the cached prefix: the request is the session's with `instruction` behind.

        Pictures and documents are named only. Where that is still too long, the oldest round is left out, up to
        `retries` times. Raises ProviderError where the model gives no summary, and PromptTooLong where none fits.
        """
        from toolpost._summaries import summary_of

        return await summary_of(self, messages, instruction, retries)


class CompactionStrategy(Plugin, ABC):
    """Makes a conversation shorter. Each strategy sees what the one before it made.

    class KeepRecent(CompactionStrategy):
        turns: int = 20
        above: float = 0.8

        def applies(self, context: Context) -> float:
            return context.fill > self.above

        async def compact(self, context: Context) -> CompactionResult | None:
            return context.result(context.last_turns(self.turns))
    """

    order: ClassVar[int] = 100
    """Where it stands: cheap ones first. Clearing results 10, cutting texts 20, summaries 100. The settings have the last
    word: `"compaction": {"order": ["micro", "keep_recent"]}`."""

    triggers: ClassVar[tuple[Trigger, ...]] = ALWAYS
    """When it is asked at all."""

    summarizes: ClassVar[bool] = False
    """Whether it puts something shorter in the place of what was said, so that the conversation begins anew from there.

    PreCompact and PostCompact listeners are told, files and instructions are attached again, and no second one that
    summarizes comes after it.
    """

    def applies(self, context: Context) -> float:
        """Say how well it fits now: 0 for not at all. Of several with the same `order` the highest goes first.

        Asked before each request, so it has to be quick.
        """
        del context
        return 1.0

    @abstractmethod
    async def compact(self, context: Context) -> CompactionResult | None:
        """Return the conversation to go on with (`context.result(messages)`), or None to leave it.

        Messages that stay must be the same objects, and every `tool_use` must keep its `tool_result`. A strategy that
        raises is reported and passed over, and after three failures in a row no longer asked of itself.
        """

    @hookimpl(specname="compaction")
    def _compaction(self) -> Sequence[CompactionStrategy]:
        return (self,)
