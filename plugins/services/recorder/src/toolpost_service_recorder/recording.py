"""A world that passes everything through and keeps it."""

from __future__ import annotations

import itertools
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final, TypeVar
from uuid import uuid4

from toolpost import Provider

from .inboxes import KeptInbox
from .provider import KeptProvider
from .values import encoded, plain

if TYPE_CHECKING:
    from toolpost import (
        AbortReason,
        Asker,
        CallEnd,
        EventBase,
        EventEnd,
        Inbox,
        ModelRequest,
        Question,
        Reply,
        SessionEvent,
        ToolUse,
    )

    from .writing import Writer

S = TypeVar("S")
CHANGING: Final = frozenset({"background_tasks", "duration", "origin", "request"})
"""Fields of events that are of a moment or a machine, or that are compared elsewhere."""
RELOADED: Final = (
    "The settings or plugins changed while the session is recorded. It can be played up to here and no further, as the "
    "recording has the settings of its beginning: record it anew with these."
)


class Recording:
    """Keeps entries in the order in which things came to their end.

    What happens within a call or a listener has its place in `within`: it is played only where that runs again.
    """

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._within: ContextVar[str] = ContextVar("within", default="")
        self._read: dict[str, dict[str, list[Any]]] = {}
        self._numbers = itertools.count(1)
        self._facts: set[str] = set()
        self._came = 0
        self._provider: Provider | None = None
        self._tell: Callable[[SessionEvent], None] = lambda _: None

    def begin(
        self, tell: Callable[[SessionEvent], None], interrupt: Callable[[AbortReason], None], inbox: Inbox
    ) -> None:
        """Take what shows an event."""
        del interrupt, inbox
        self._tell = tell

    # What is read.

    def now(self) -> float:
        """Return the clock of the day."""
        return self._kept("now", time.time())

    def monotonic(self) -> float:
        """Return a clock that only goes on."""
        return self._kept("monotonic", time.monotonic())

    def new_id(self, purpose: str) -> str:
        """Return a new id."""
        return self._kept(f"id {purpose}", str(uuid4()))

    def fact(self, name: str, value: S) -> S:
        """Keep something of the provider, once."""
        if name not in self._facts:
            self._facts.add(name)
            self.put({"e": "fact", "name": name, "value": encoded(value)})
        return value

    # What is asked.

    def provider(self, choose: Callable[[], tuple[Provider, str]]) -> tuple[Provider, str]:
        """Return the provider, as one that keeps its answers."""
        provider, name = choose()
        if self._provider is None:
            self._provider = KeptProvider(provider, self)
            self.fact("provider", name)
        return self._provider, name

    async def gather(self, what: str, make: Callable[[], Awaitable[Sequence[S]]]) -> Sequence[S]:
        """Keep what a source adds to the prompt."""
        with self._inside(f"gather {what}"):
            made = await make()
        self.put({"e": "gathered", "what": what, "added": [encoded(one) for one in made]})
        return made

    def hears(self, name: str, heard: bool) -> bool:
        """Return whether anybody listens."""
        del name
        return heard

    async def event(self, name: str, value: EventBase, emit: Callable[[], Awaitable[EventEnd]]) -> EventEnd:
        """Keep what listeners answer, with what they were told."""
        with self._inside(f"event {name}"):
            end = await emit()
        self.put({"e": "event", "name": name, "value": told(value), "end": encoded(end)})
        return end

    async def call(self, call: ToolUse, run: Callable[[], Awaitable[CallEnd]]) -> CallEnd:
        """Keep what a call comes to."""
        with self._inside(call.id):
            end = await run()
        kept = {**encoded(end), "block": plain(end.block), "data": plain(end.data)}
        self.put({"e": "call", "id": call.id, "name": call.name, "input": plain(call.input), "end": kept})
        return end

    async def ask(self, question: Question, ask: Asker) -> Reply:
        """Keep what a person answers."""
        reply = await ask(question)
        self.put({"e": "reply", "title": question.title, "details": question.details, "reply": encoded(reply)})
        return reply

    def inbox(self, inbox: Inbox) -> Inbox:
        """Return an inbox that keeps what comes in."""
        return KeptInbox(inbox, self)

    def looks(self) -> None:
        """Keep how much had come by now."""
        self._kept("came", self._came)

    def came(self, facts: Mapping[str, Any]) -> None:
        """Keep a text that came in."""
        self._came += 1
        self.put({"e": "inbox", **facts})

    # What is told.

    def tells(self, event: SessionEvent) -> bool:
        """Keep what calls and listeners show; the rest follows from what is kept."""
        if self._within.get():
            self.put({"e": "told", "event": encoded(event)})
        return True

    def did(self, what: str, given: Mapping[str, Any]) -> None:
        """Keep what is done with the session, and what was spent where a recording does not spend it again."""
        entry = {"e": "did", "what": what, "given": encoded(given)}
        if what == "spent":
            if self._within.get():
                self.put(entry)
            return
        with self.outside():
            self.put(entry)
        if what == "reload":
            from toolpost import Notice

            self._tell(Notice(RELOADED, "warning"))

    def close(self) -> None:
        """End the file; a file that broke off is told of."""
        self._flush()
        self._writer.close()
        if self._writer.problem is not None:
            from toolpost import Notice

            self._tell(Notice(self._writer.problem, "warning"))

    # How it is kept.

    def put(self, entry: dict[str, Any]) -> None:
        """Write an entry with its place, behind what was read before it."""
        self._flush()
        self._writer.put(self._placed(entry))

    def asked(self, request: ModelRequest) -> int:
        """Keep a request; returns its number."""
        self._flush()
        number = next(self._numbers)
        self._writer.request(self._placed({"e": "request", "number": number}), request)
        return number

    def _placed(self, entry: dict[str, Any]) -> dict[str, Any]:
        within = self._within.get()
        return {**entry, "in": within} if within else entry

    @contextmanager
    def outside(self) -> Iterator[None]:
        """What happens while this is entered follows from what is kept, also within a call."""
        token = self._within.set("")
        try:
            yield
        finally:
            self._within.reset(token)

    @contextmanager
    def _inside(self, place: str) -> Iterator[None]:
        outer = self._within.get()
        token = self._within.set(f"{outer}/{place}" if outer else place)
        try:
            yield
        finally:
            self._within.reset(token)

    def _kept(self, row: str, value: S) -> S:
        if not self._within.get():
            self._read.setdefault("", {}).setdefault(row, []).append(value)
        return value

    def _flush(self) -> None:
        read, self._read = self._read, {}
        for rows in read.values():
            self._writer.put({"e": "read", "rows": rows})


def told(value: Any) -> dict[str, Any]:
    """Return what listeners are told that is the same each time."""
    return {name: plain(encoded(one)) for name, one in vars(value).items() if name not in CHANGING}
