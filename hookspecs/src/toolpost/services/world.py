"""`World`: everything that a session gets from outside, as one seam. `Recorder`: keeps that in a file, and plays it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from toolpost._frozen import frozen

if TYPE_CHECKING:
    from toolpost.context import AbortReason
    from toolpost.events._base import EventBase, Outcome
    from toolpost.frontends import Asker, Question, Reply
    from toolpost.messages import Message, ToolResultBlock
    from toolpost.providers import Provider, ToolUse
    from toolpost.services.kernel import Inbox
    from toolpost.session_events import SessionEvent

S = TypeVar("S")


@frozen(kw_only=True)
class CallEnd:
    """What one call came to.

    `denied` says that a gate refused it, `rejected` that a person's refusal ended the turn, `stop` why a hook did,
    `deferred` that a hook put it off. `cwd` is the folder that later calls begin in, where the call changed it.
    """

    block: ToolResultBlock
    data: Any = None
    new_messages: Sequence[Message] = ()
    duration: float = 0.0
    denied: bool = False
    rejected: bool = False
    stop: str | None = None
    cwd: Path | None = None
    deferred: bool = False


@frozen()
class EventEnd:
    """What the listeners of an event came to; `failure` is set where one failed whose failure blocks."""

    outcome: Outcome | None = None
    failure: str | None = None


class World(Protocol):
    """What a session gets from outside; sub-agents have their session's.

    Each method is handed what would be done without it, and does that, or returns what was kept of an earlier time.
    """

    def begin(
        self, tell: Callable[[SessionEvent], None], interrupt: Callable[[AbortReason], None], inbox: Inbox
    ) -> None:
        """Take what shows an event of the session, what ends its turn, and its inbox; called once, before anything else."""

    def now(self) -> float:
        """The clock of the day, in seconds since 1970."""

    def monotonic(self) -> float:
        """A clock that only goes on, in seconds."""

    def new_id(self, purpose: str) -> str:
        """A new id in the form of a UUID. Those of each purpose are a row of their own."""

    def provider(self, choose: Callable[[], tuple[Provider, str]]) -> tuple[Provider, str]:
        """The provider, and its plugin's name. Raises what `choose` does."""

    async def gather(self, what: str, make: Callable[[], Awaitable[Sequence[S]]]) -> Sequence[S]:
        """What a source adds to the prompt, sections or texts; `what` names the source and the occasion."""

    def hears(self, name: str, heard: bool) -> bool:
        """Whether anybody listens to the event of that name; `heard` is whether a listener is there."""

    async def event(self, name: str, value: EventBase, emit: Callable[[], Awaitable[EventEnd]]) -> EventEnd:
        """What the listeners of an event answer."""

    async def call(self, call: ToolUse, run: Callable[[], Awaitable[CallEnd]]) -> CallEnd:
        """What a call comes to."""

    async def ask(self, question: Question, ask: Asker) -> Reply:
        """What a person answers."""

    def inbox(self, inbox: Inbox) -> Inbox:
        """The inbox as plugins get it."""

    def looks(self) -> None:
        """Hear that the session looks into its inbox: what has come by now counts."""

    def tells(self, event: SessionEvent) -> bool:
        """Whether an event of the session is shown; asked of each."""

    def did(self, what: str, given: Mapping[str, Any]) -> None:
        """Hear of what is done with the session: `what` is a method of `SessionDoor` that changes something.

        `given` has what it was called with, by name. Two come beside those: `spent`, what a request cost (a CostLine under
        `line`), and `leave`, that nobody takes the rest of a turn.
        """

    def close(self) -> None:
        """Hear that the session is over."""


class Replay(World, Protocol):
    """A recording as it is played."""

    @property
    def header(self) -> Mapping[str, Any]:
        """What was given to `Recorder.record`."""

    def play(self, do: Callable[[str, Mapping[str, Any]], None]) -> None:
        """Begin: `do` is called for whatever `did` heard of, each in its turn, and once more with `end` behind the last."""

    @property
    def miss(self) -> str | None:
        """Where the session was not the recorded one any more, and how it differs; None where it was."""

    @property
    def differences(self) -> Sequence[str]:
        """What real tools came to otherwise than the recording has it, a text for each call."""


class Recorder(Protocol):
    """Keeps sessions in files, and plays them.

    `redact` takes secrets out of a JSON value; it is given everything that is written, and what that is compared with.
    """

    def record(self, path: Path, header: Mapping[str, Any], redact: Callable[[Any], Any]) -> World:
        """Return what passes everything through and keeps it. Raises SessionError where the file can't be written.

        `header` describes the session in JSON; its `places` are folders, each with a name.
        """

    def replay(
        self,
        path: Path,
        places: Mapping[str, str],
        redact: Callable[[Any], Any],
        *,
        real_tools: bool = False,
        stall: float = 5.0,
    ) -> Replay:
        """Return what plays a file. Raises SessionError where it can't be read or is no recording.

        `places` are the folders that stand for those of the header. With `real_tools` calls run, and what they come to is
        compared. `stall` are seconds without anything that goes on, after which what is awaited will not come.
        """
