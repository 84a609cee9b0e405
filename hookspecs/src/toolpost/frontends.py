"""Front ends: what a person or a program sees of a session."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

from toolpost._hooks import hookimpl
from toolpost._plugin import Plugin

if TYPE_CHECKING:
    from toolpost.context import AbortReason
    from toolpost.launch import LaunchOptions
    from toolpost.messages import Message
    from toolpost.permissions import Decision, PermissionMode, PermissionRequest, Rule, RuleUpdate
    from toolpost.providers import ModelInfo, Usage
    from toolpost.session_events import SessionEvent


@dataclass(frozen=True)
class Diff:
    """A change to a file; `before` None for a new one. The texts may be a part that begins at `first_line`."""

    path: str
    before: str | None
    after: str
    first_line: int = 1


@dataclass(frozen=True)
class Lines:
    """Some lines of text, and how many more there are."""

    text: str
    more: int = 0


@dataclass(frozen=True)
class Checklist:
    """Items, each with its state."""

    items: tuple[tuple[str, Literal["pending", "in_progress", "completed"]], ...]


View: TypeAlias = Diff | Lines | Checklist
"""How a result is shown, for a front end to draw in its own way."""


@dataclass(frozen=True, kw_only=True)
class Question:
    """A permission question for a person. `view` shows what would be done, `details` one line of it."""

    request: PermissionRequest
    decision: Decision
    title: str
    details: str = ""
    view: View | None = None


@dataclass(frozen=True, kw_only=True)
class Reply:
    """A person's answer. `updates` are granted for good; `stop` also ends the turn; `feedback` goes to the model."""

    allow: bool
    updates: Sequence[RuleUpdate] = ()
    updated_input: Mapping[str, Any] | None = None
    feedback: str = ""
    stop: bool = False


class Asker(Protocol):
    """Puts a permission question to a person."""

    async def __call__(self, question: Question) -> Reply:
        """Ask; cancelled when the call is aborted meanwhile."""


@dataclass(frozen=True, kw_only=True)
class CostLine:
    """What one model has cost in a session; `dollars` None where its price is not known."""

    model: str
    requests: int
    usage: Usage
    dollars: float | None


class SessionDoor(Protocol):
    """A session as a front end drives it."""

    @property
    def id(self) -> str:
        """The session's id."""

    @property
    def cwd(self) -> Path:
        """The current folder."""

    @property
    def model(self) -> ModelInfo:
        """The model in use."""

    @property
    def permission_mode(self) -> PermissionMode:
        """The permission mode in force."""

    @property
    def transcript_path(self) -> Path | None:
        """Where the transcript lies; None where none is kept."""

    @property
    def messages(self) -> Sequence[Message]:
        """The conversation so far."""

    def submit(self, prompt: str | Sequence[Mapping[str, Any]]) -> AsyncIterator[SessionEvent]:
        """Run one prompt (text or content blocks); the last event is the RunResult."""

    def interrupt(self, reason: AbortReason = "user_cancel") -> None:
        """End the running turn; the session goes on. Does nothing when none runs."""

    def set_model(self, name: str) -> ModelInfo:
        """Use another model from the next request on."""

    def set_permission_mode(self, mode: PermissionMode) -> None:
        """Change the permission mode. Raises SettingsError where policy forbids it."""

    def rules(self) -> Sequence[Rule]:
        """Every permission rule in force."""

    def update_rules(self, updates: Sequence[RuleUpdate]) -> None:
        """Add, replace or remove rules, for the session or in a settings file."""

    def costs(self) -> Sequence[CostLine]:
        """What was used so far, a line a model."""

    async def clear(self) -> None:
        """Begin a new conversation, with a new session id."""

    async def reload(self) -> Sequence[str]:
        """Read the settings anew and turn plugins on and off; returns what changed, a text for each."""


class Host(Protocol):
    """What a front end gets from core."""

    @property
    def options(self) -> LaunchOptions:
        """How the run was asked for."""

    @property
    def version(self) -> str:
        """The version of core."""

    def open(self, options: LaunchOptions, ask: Asker | None = None) -> AbstractAsyncContextManager[SessionDoor]:
        """Open a session; without `ask` nobody can be asked. Raises SessionError, SettingsError, ProviderError."""

    async def launch(self, frontend: str, options: LaunchOptions) -> int:
        """Run another front end to its end and return its exit code."""


class Frontend(Plugin, ABC):
    """Shows sessions to a person or a program."""

    @abstractmethod
    async def run(self, host: Host) -> int:
        """Run until the person or program is done; return the exit code (0 done, 1 error, 2 usage, 130 interrupted)."""

    @hookimpl(specname="frontends")
    def _frontends(self) -> Sequence[Frontend]:
        return (self,)
