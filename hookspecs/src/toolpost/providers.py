"""Providers: adapters that turn a request into a stream of events."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import field
from datetime import date
from typing import Any, ClassVar, Final, Literal, NamedTuple, TypeAlias

from toolpost._frozen import frozen
from toolpost._hooks import hookimpl
from toolpost._plugin import Plugin
from toolpost.messages import ContentBlock, Message, text_of
from toolpost.stash import Stash

Effort: TypeAlias = Literal["low", "medium", "high", "xhigh", "max"]
EFFORTS: Final[tuple[Effort, ...]] = ("low", "medium", "high", "xhigh", "max")
"""The levels of effort, the least first."""


class Usage(NamedTuple):
    """What one request used, in tokens. `input_tokens` leaves out what the cache read and wrote."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_creation_input_tokens: int = 0
    cache_read_input_tokens: int = 0
    cache_creation_1h_input_tokens: int = 0
    web_search_requests: int = 0
    """Searches that the service did itself; each has a price of its own."""

    def plus(self, other: Usage) -> Usage:
        """Add up two requests."""
        return Usage(*(mine + theirs for mine, theirs in zip(self, other, strict=True)))

    @property
    def prompt_tokens(self) -> int:
        """All tokens of the prompt, cached or not."""
        return self.input_tokens + self.cache_creation_input_tokens + self.cache_read_input_tokens


class MessageStart(NamedTuple):
    """The answer began; `usage` is that of the prompt."""

    id: str
    model: str
    usage: Usage = Usage()


class TextDelta(NamedTuple):
    """More text."""

    text: str


class ThinkingDelta(NamedTuple):
    """More reasoning."""

    text: str


class ToolUseStart(NamedTuple):
    """A tool call began; its input follows."""

    id: str
    name: str


class InputDelta(NamedTuple):
    """More of a tool call's input, as JSON text cut anywhere."""

    json: str


class Block(NamedTuple):
    """A complete block, exactly as it has to go back to the model."""

    content: ContentBlock


class ToolUse(NamedTuple):
    """A complete tool call.

    `input` is an object. Where the model wrote something else, `raw` holds its text: the call then gets an error
    result that shows it.
    """

    id: str
    name: str
    input: dict[str, Any]
    raw: str | None = None


class Retrying(NamedTuple):
    """The request failed and is sent again after `delay` seconds; `attempt` counts from 1 to `of`."""

    attempt: int
    of: int
    delay: float
    error: str
    status: int | None = None


class Stop(NamedTuple):
    """The answer ended. `reason` is a Messages API stop reason: end_turn, tool_use, max_tokens, stop_sequence, refusal,
    pause_turn, model_context_window_exceeded.
    """

    reason: str
    usage: Usage | None = None


StreamEvent: TypeAlias = (
    MessageStart | TextDelta | ThinkingDelta | ToolUseStart | InputDelta | Block | ToolUse | Retrying | Stop
)
"""What a provider yields.

Deltas are for showing. What is kept in the conversation are `Block` and `ToolUse`; text that came as deltas only and is
followed by something else (or the end) is kept as a text block of its own. A `ToolUse` may start to run at once, so it
is yielded as soon as its input is complete. `Stop` is the last event of an answer.
"""


CacheScope: TypeAlias = Literal["shared", "session", "none"]
"""For whom a text stays the same: for all sessions, for one conversation, or not even for that."""


@frozen()
class SystemBlock:
    """A part of the system prompt; `cache` marks the end of a prefix that is worth caching.

    `scope` says for whom that prefix stays the same, for a service that keeps some longer than others.
    """

    text: str
    cache: bool = False
    scope: CacheScope = "session"


@frozen()
class ToolSpec:
    """A tool as the model sees it. `cache` marks the end of a prefix that is worth caching."""

    name: str
    description: str
    input_schema: Mapping[str, Any]
    cache: bool = False


@frozen(kw_only=True)
class ModelRequest:
    """One request to the model.

    Values are shared with later requests and never change: an adapter may remember what it made of a message or tool
    list by identity. `cache_breakpoints` are indexes of messages whose end is worth caching. `stash` is the session's:
    connections belong there. `env` has the credentials; None means that of the process. `thinking` is a budget in tokens,
    "adaptive", or None for the model's default, and `effort` how much is spent on an answer: an adapter sends what comes
    nearest to it of what the model takes. `has_fallback` says that another model will be asked where this one is
    overloaded, so that it is not worth to wait long for it. Without `streaming` the service is asked for an answer in one
    piece, which becomes the same events.
    """

    model: str
    messages: Sequence[Message]
    system: Sequence[SystemBlock] = ()
    tools: Sequence[ToolSpec] = ()
    max_tokens: int | None = None
    thinking: int | Literal["adaptive", "disabled"] | None = None
    effort: Effort | None = None
    has_fallback: bool = False
    tool_choice: Mapping[str, Any] | None = None
    stop_sequences: Sequence[str] = ()
    cache_breakpoints: Sequence[int] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)
    purpose: str = "main"
    streaming: bool = True
    env: Mapping[str, str] | None = None
    stash: Stash = field(default_factory=Stash)

    @property
    def last_text(self) -> str:
        """The text of the last message."""
        return text_of(self.messages[-1]) if self.messages else ""


@frozen(kw_only=True)
class Price:
    """Dollars per million tokens, with the date and source they are from.

    Requests whose prompt is over `above_tokens` cost `above` instead. `web_search` is the price of a thousand searches.
    """

    input: float
    output: float
    cache_write: float
    cache_read: float
    cache_write_1h: float = 0.0
    web_search: float = 0.0
    as_of: date = date.min
    source: str = ""
    above_tokens: int | None = None
    above: Price | None = None

    def of(self, usage: Usage) -> float:
        """Return the dollars that a request's usage costs."""
        if self.above is not None and self.above_tokens is not None and usage.prompt_tokens > self.above_tokens:
            return self.above.of(usage)
        write_5m = usage.cache_creation_input_tokens - usage.cache_creation_1h_input_tokens
        return (
            usage.input_tokens * self.input
            + usage.output_tokens * self.output
            + usage.cache_read_input_tokens * self.cache_read
            + write_5m * self.cache_write
            + usage.cache_creation_1h_input_tokens * self.cache_write_1h
        ) / 1_000_000 + usage.web_search_requests * self.web_search / 1_000


@frozen(kw_only=True)
class ModelInfo:
    """What a provider knows of a model. `window` and `max_output` are in tokens.

    `efforts` are the levels that it takes, empty where it takes none, and `effort` is what it does when nothing is said.
    """

    id: str
    window: int = 200_000
    max_output: int = 32_000
    price: Price | None = None
    prompt_caching: bool = False
    images: bool = True
    documents: bool = False
    efforts: tuple[Effort, ...] = ()
    effort: Effort | None = None


class Provider(Plugin, ABC):
    """Turns a request into a stream of events.

    class Echo(Provider):
        prefix: str = ""

        async def stream(self, request: ModelRequest) -> AsyncIterator[StreamEvent]:
            yield TextDelta(self.prefix + request.last_text)
            yield Stop("end_turn")
    """

    default_model: ClassVar[str] = "default"

    @abstractmethod
    def stream(self, request: ModelRequest) -> AsyncIterator[StreamEvent]:
        """Ask the model. Ends with `Stop`; raises ProviderError. Closing the iterator ends the request at once."""

    def unusable(self, env: Mapping[str, str]) -> str | None:
        """Say what is missing before this provider can be used, such as a key; None if nothing. No network."""
        del env
        return None

    def credential_source(self, env: Mapping[str, str]) -> str:
        """Name where the key comes from, such as an environment variable; "none" without one."""
        del env
        return "none"

    def small_model(self, env: Mapping[str, str]) -> str:
        """Name a quick and cheap model for side questions; empty where the session's own serves."""
        del env
        return ""

    def model(self, name: str) -> ModelInfo:
        """Resolve an alias or id; an unknown id is passed on with cautious limits."""
        return ModelInfo(id=name)

    def models(self) -> Sequence[ModelInfo]:
        """The models that this provider knows without asking."""
        return ()

    async def check_model(self, request: ModelRequest) -> None:
        """Ask the service whether there is the request's model, where its name is not known here; costs nothing.

        Raises ProviderError where there is none. Returns where the service can't tell, or can't be reached.
        """
        del request

    async def count_tokens(self, request: ModelRequest) -> int | None:
        """Count the prompt's tokens, where the service can; None where it can't."""
        del request
        return None

    @hookimpl(specname="providers")
    def _providers(self) -> Sequence[Provider]:
        return (self,)
