"""Front ends: what a person or a program sees of a session."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

from toolpost._frozen import frozen
from toolpost._hooks import hookimpl
from toolpost._plugin import Plugin

if TYPE_CHECKING:
    from toolpost.context import AbortReason
    from toolpost.launch import BudgetLimits, LaunchOptions
    from toolpost.messages import Message
    from toolpost.permissions import Decision, PermissionMode, PermissionRequest, Rule, RuleUpdate
    from toolpost.providers import Effort, ModelInfo, Usage
    from toolpost.queue import Priority, Queued
    from toolpost.services import FileRewind, MemoryFiles, Rewound, SentPrompt, TurnChanges
    from toolpost.session_events import SessionEvent
    from toolpost.usage import ContextUsage


@frozen()
class Diff:
    """A change to a file; `before` None for a new one. The texts may be a part that begins at `first_line`."""

    path: str
    before: str | None
    after: str
    first_line: int = 1


@frozen()
class Lines:
    """Some lines of text, and how many more there are."""

    text: str
    more: int = 0


@frozen()
class Checklist:
    """Items, each with its state."""

    items: tuple[tuple[str, Literal["pending", "in_progress", "completed"]], ...]


View: TypeAlias = Diff | Lines | Checklist
"""How a result is shown, for a front end to draw in its own way."""


@frozen(kw_only=True)
class Question:
    """A permission question for a person. `view` shows what would be done, `details` one line of it."""

    request: PermissionRequest
    decision: Decision
    title: str
    details: str = ""
    view: View | None = None


@frozen(kw_only=True)
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


@frozen(kw_only=True)
class CostLine:
    """What one model has cost in a session; `dollars` None where its price is not known.

    `spender` says who asked it: `main` for the session's own turns, a plugin's request by its purpose, a sub-agent.
    """

    model: str
    requests: int
    usage: Usage
    dollars: float | None
    spender: str = "main"


@frozen(kw_only=True)
class CostTotals:
    """What a session took beside tokens, sub-agents included.

    `api_seconds` were spent on answers, of that `retry_seconds` on tries that failed and on the waits behind them.
    `tool_seconds` add up the calls, also where several ran at once. Lines are those of files that editing tools changed.
    """

    api_seconds: float = 0.0
    retry_seconds: float = 0.0
    tool_seconds: float = 0.0
    lines_added: int = 0
    lines_removed: int = 0


@frozen(kw_only=True)
class ConfiguredHook:
    """A hook that is set up: for which event and what of it, what it runs, and the file that it stands in."""

    event: str
    matcher: str = ""
    what: str = ""
    source: str = ""


@frozen(kw_only=True)
class KeptSession:
    """A session that can be resumed: what it was called or asked first, and its last change, in seconds since 1970."""

    id: str
    title: str
    modified: float
    size: int
    branch: str = ""
    cwd: Path | None = None


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

    def new_id(self) -> str:
        """A new UUID for something that is shown; where a recording is played, the one that was shown then."""

    def submit(
        self, prompt: str | Sequence[Mapping[str, Any]], *, message_id: str | None = None
    ) -> AsyncIterator[SessionEvent]:
        """Run one prompt (text or content blocks); the last event is the RunResult.

        `message_id` is the uuid that its record gets, which must be new; one is made where none is given.
        """

    def enqueue(
        self,
        prompt: str | Sequence[Mapping[str, Any]],
        *,
        priority: Priority = "next",
        message_id: str | None = None,
    ) -> Queued:
        """Let a prompt wait, whether a turn runs or not; `go_on` runs what no turn took along.

        `next` goes with the results of the running turn's next calls, `later` waits for its end, `now` ends it: calls that
        an interrupt does not end come to their end first. A PromptTaken event says when it is read.
        """

    def queued(self) -> Sequence[Queued]:
        """What waits to be read, in that order: prompts, and what else is worth a turn."""

    def withdraw(self, id: str) -> Queued | None:
        """Take back what waits; None where it was read already."""

    def tell(self, event: SessionEvent) -> bool:
        """Put an event of the front end's own behind those that the running turn has shown; False where no turn runs.

        A recording keeps it in either case. Where no turn runs nothing is done: the front end shows it itself.
        """

    @property
    def is_due(self) -> bool:
        """Whether something waits that begins a turn, such as a prompt or the end of background work."""

    async def due(self) -> None:
        """Return once something does."""

    def go_on(self) -> AsyncIterator[SessionEvent]:
        """Run the turn that is due, as `submit` does: the first prompt that waits, or what else does.

        No event comes where nothing is due. Raises SessionError while a turn runs.
        """

    def interrupt(self, reason: AbortReason = "user_cancel") -> None:
        """End the running turn; the session goes on. Does nothing when none runs.

        Prompts that wait stay. Whatever else waits begins no turn by itself after a `user_cancel`.
        """

    async def set_model(self, name: str, *, source: Literal["command", "picker", "sdk"] = "command") -> ModelInfo:
        """Use another model from the next request on; `source` says who asked for it, a program or a person and how.

        Raises SessionError where a listener refuses, and ProviderError for a model that can't be used.
        """

    @property
    def effort(self) -> Effort | None:
        """How much is spent on an answer, as far as anybody said; None for the model's own level."""

    def set_effort(self, effort: Effort | None) -> None:
        """Spend more or less on each answer from the next request on; None goes back to what flags and settings say.

        A model that lacks the level gets the nearest of those that it has (`model.efforts`).
        """

    def set_thinking(self, thinking: int | Literal["adaptive", "disabled"] | None) -> None:
        """Let the model think within a budget of tokens, as it sees fit, or not at all; None as flags and settings say."""

    def set_permission_mode(self, mode: PermissionMode) -> None:
        """Change the permission mode. Raises SettingsError where policy forbids it."""

    def rules(self) -> Sequence[Rule]:
        """Every permission rule in force."""

    def update_rules(self, updates: Sequence[RuleUpdate]) -> None:
        """Add, replace or remove rules, for the session or in a settings file."""

    def hooks(self) -> Sequence[ConfiguredHook]:
        """The hooks that are set up, in the order of the settings."""

    def costs(self) -> Sequence[CostLine]:
        """What was used so far, a line for each spender and model."""

    def totals(self) -> CostTotals:
        """What the session took so far beside tokens."""

    def budget_left(self) -> BudgetLimits:
        """What is left of what the session and all that it starts may use."""

    async def clear(self) -> None:
        """Begin a new conversation, with a new session id."""

    def compact(
        self, instructions: str = "", *, part: tuple[Literal["up_to", "from"], str] | None = None
    ) -> AsyncIterator[SessionEvent]:
        """Make the conversation shorter; the events say what was done. `interrupt` ends it.

        `instructions` are a person's words on what matters. `part` is a direction and a prompt's id: only what is before
        it (`up_to`), or it and all after it (`from`), gives way to a summary. Raises SessionError while a prompt runs,
        for an unknown id, and where nothing was done.
        """

    async def context_usage(self) -> ContextUsage:
        """How full the model's window is, and with what; the service is asked where it can count."""

    def memory(self) -> MemoryFiles:
        """What is kept of the project from one session to the next. Raises MissingService where no plugin keeps it."""

    def sent_prompts(self) -> Sequence[SentPrompt]:
        """Every prompt of the session, oldest first; those that the conversation went back from are `rewound`."""

    async def turn_changes(self) -> Mapping[str, TurnChanges]:
        """What the turns changed in files, by the prompt's id. Raises MissingService where no history is kept."""

    async def plan_rewind(self, message_id: str) -> Sequence[FileRewind]:
        """Say what `rewind_files` would do. Raises SessionError for an unknown id, MissingService."""

    async def rewind_files(self, message_id: str, *, force: bool = False) -> Rewound:
        """Bring the files back to what they were before a prompt; any message of its turn stands for the prompt.

        Raises SessionError where something was changed by hand since, unless `force` says to go on, or where a file
        can't be written: then no file is changed. Raises MissingService where no history is kept.
        """

    async def rewind_conversation(self, message_id: str) -> str:
        """Go back to before a prompt and return its text; the transcript keeps what was said since.

        Raises SessionError while a prompt runs, for an unknown id, and where no transcript is kept.
        """

    async def reload(self) -> Sequence[str]:
        """Read the settings anew and turn plugins on and off; returns what changed or is wrong, a text for each.

        Raises SettingsError where they can't be read or a listener refuses; all stays as it was then.
        """


class Host(Protocol):
    """What a front end gets from core."""

    @property
    def options(self) -> LaunchOptions:
        """How the run was asked for."""

    @property
    def version(self) -> str:
        """The version of core."""

    def untrusted(self) -> Sequence[str]:
        """What the folder's settings would set once the person trusts it, a text for each file or plugin.

        Empty where the folder is trusted, where there is nothing, and where the person has said no before.
        """

    def trust(self, trusted: bool) -> None:
        """Keep the person's answer for this folder. Raises SettingsError where it can't be kept."""

    def sessions(self) -> Sequence[KeptSession]:
        """The sessions of the folder, newest first. With `resume` empty in the options the person is to pick one."""

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
