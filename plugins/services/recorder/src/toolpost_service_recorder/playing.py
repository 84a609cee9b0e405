"""A world in which everything comes from a recording, but for what the program itself makes of it."""

from __future__ import annotations

import itertools
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final, TypeVar
from uuid import NAMESPACE_OID, uuid4, uuid5

from toolpost import CallEnd, EventEnd, Reply, Section

from .deeds import Deeds
from .differing import difference, unlike
from .inboxes import SilentInbox
from .pace import Pace
from .provider import PlayedProvider
from .reading import OF_THEMSELVES, Entry, Key, Tape, key_of, named
from .recording import told
from .requests import as_json
from .turnstile import Turnstile
from .values import decoded, plain

if TYPE_CHECKING:
    from toolpost import AbortReason, Asker, EventBase, Inbox, ModelRequest, Provider, Question, SessionEvent, ToolUse

    from .comparing import Comparable

S = TypeVar("S")
MISSED: Final = "The recording has nothing for this, so it was not done."


class Playing:
    """Plays a tape. The first thing that is not in it is the `miss`, and ends the turn."""

    def __init__(self, tape: Tape, comparable: Comparable, *, real_tools: bool, stall: float) -> None:
        self._tape = tape
        self._comparable = comparable
        self._real_tools = real_tools
        self._within: ContextVar[str] = ContextVar("within", default="")
        self._depth: ContextVar[int] = ContextVar("depth", default=0)
        self._pace = Pace()
        self._turnstile = Turnstile(tape.turns, self._show, self._missed, stall, self._pace)
        self._clocks: dict[str, float] = {}
        self._new = itertools.count(1)
        self._deeds = Deeds(tape.deeds)
        self._miss: str | None = None
        self._expectations: list[AbstractContextManager[None]] = []
        self._differences: list[str] = []
        self._provider = PlayedProvider(self, tape.facts)

    @property
    def header(self) -> Mapping[str, Any]:
        """What the recording says of its session."""
        return self._tape.header

    @property
    def miss(self) -> str | None:
        """Where the session was not the recorded one any more."""
        return self._miss

    @property
    def differences(self) -> Sequence[str]:
        """What real tools came to otherwise."""
        return self._differences

    def begin(
        self, tell: Callable[[SessionEvent], None], interrupt: Callable[[AbortReason], None], inbox: Inbox
    ) -> None:
        """Take what shows events, what ends the turn, and where texts come in."""
        self._tell, self._interrupt, self._inbox = tell, interrupt, inbox

    def play(self, do: Callable[[str, Mapping[str, Any]], None]) -> None:
        """Begin with what was done first."""
        self._deeds.begin(do)
        self._turnstile.begin()

    # What is read.

    def now(self) -> float:
        """Return what the clock of the day said."""
        return self._clock("now", time.time)

    def monotonic(self) -> float:
        """Return what the clock said."""
        return self._clock("monotonic", time.monotonic)

    def new_id(self, purpose: str) -> str:
        """Return the recorded id; one that was not needed then is new, and the same each time that it is played."""
        if self._within.get():
            return str(uuid4())
        row = self._read(f"id {purpose}")
        if row:
            return str(row.popleft())
        return str(uuid5(NAMESPACE_OID, f"{self.header.get('session')} {purpose} {next(self._new)}"))

    # What is asked.

    def provider(self, choose: Callable[[], tuple[Provider, str]]) -> tuple[Provider, str]:
        """Return what answers from the recording."""
        del choose
        return self._provider, self._tape.facts.get("provider", "")

    async def gather(self, what: str, make: Callable[[], Awaitable[Sequence[S]]]) -> Sequence[S]:
        """Return static sections as they are now, so that a change of the prompt misses, and all else as it was."""
        kept = self._tape.gathered.get((self._within.get(), what))
        recorded: list[Any] = kept.popleft() if kept else []
        if not what.endswith(" sections"):
            return recorded
        with self._inside(f"gather {what}"):
            made = [one for one in await make() if isinstance(one, Section) and one.static]
        return [*made, *(one for one in recorded if not one.static)]

    def hears(self, name: str, heard: bool) -> bool:
        """Whether anybody listened then."""
        del heard
        return name in self._tape.heard

    async def event(self, name: str, value: EventBase, emit: Callable[[], Awaitable[EventEnd]]) -> EventEnd:
        """Return what listeners answered."""
        del emit
        came = told(value)
        entry = await self._next(key_of({"e": "event", "name": name, "value": came}))
        if entry is None:
            if not self._within.get() and name not in OF_THEMSELVES:
                self._missed(f"The event {name} comes to listeners, and the recording has no more of it.")
            return EventEnd()
        if not self._within.get() and name not in OF_THEMSELVES:
            self._compare(f"What listeners of {name} are told is not what was recorded", entry["value"], came)
        return _end_of_event(decoded(entry["end"]), value)

    async def call(self, call: ToolUse, run: Callable[[], Awaitable[CallEnd]]) -> CallEnd:
        """Return what the call came to; real tools run as well."""
        came = await self._run(call, run) if self._real_tools else None
        entry = await self._next(("call", call.id))
        if entry is None:
            if not self._within.get():
                self._missed(f"The call {call.id} of {call.name} runs, and the recording has no such call.")
            return came or CallEnd(
                block={"type": "tool_result", "tool_use_id": call.id, "content": MISSED, "is_error": True}
            )
        self._compare(f"The input of the call {call.id} is not the recorded one", entry["input"], plain(call.input))
        end: CallEnd = decoded({**entry["end"], "block": None, "data": None})
        end = CallEnd(**{**vars(end), "block": entry["end"]["block"], "data": entry["end"]["data"]})
        if came is not None:
            self._compare_results(call, end, came)
        return end

    async def ask(self, question: Question, ask: Asker) -> Reply:
        """Return what the person answered; nobody is asked again."""
        del ask
        with self._busy(-self._depth.get()):  # a call that waits for an answer is not at work, nor are those around it
            entry = await self._turnstile.turn(("reply", self._within.get()))
        if entry is None:
            self._differences.append(f"A question came up that nobody was asked then: {question.details}")
            return Reply(allow=False, feedback=MISSED)
        reply: Reply = decoded(entry["reply"])
        return reply

    async def answer_to(self, request: ModelRequest) -> int | None:
        """Return the number of the recorded answer; None where the recording has none."""
        entry = await self._next(("request",))
        asked = self._comparable(as_json(request))
        if entry is not None and (self._within.get() or self._comparable(entry["request"]) == asked):
            number: int = entry["number"]
            return number
        if self._miss is None:
            recorded = [{**one, "request": self._comparable(one["request"])} for one in self._tape.requests()]
            self._missed(unlike(asked, entry, recorded), ends=False)
        return None

    async def piece_of(self, number: int) -> Entry | None:
        """Return the next that came of an answer."""
        return await self._next(("answer", number))

    async def counted(self) -> int | None:
        """Return what the service counted."""
        entry = await self._next(("count",))
        return entry["tokens"] if entry is not None else None

    def inbox(self, inbox: Inbox) -> Inbox:
        """Return one for what real tools put in: the recording has it."""
        del inbox
        return SilentInbox()

    async def checked(self) -> Mapping[str, Any] | None:
        """Return what the service said against a model."""
        entry = await self._next(("checked",))
        return entry["error"] if entry is not None else None

    def looks(self) -> None:
        """Let come what had come by then."""
        if not self._within.get():
            self._turnstile.before_looking("came")
            self._pace.reads("came")

    # What is told.

    def tells(self, event: SessionEvent) -> bool:
        """What real calls show was shown already: the recording has it."""
        del event
        return not self._within.get()

    def did(self, what: str, given: Mapping[str, Any]) -> None:
        """The recording says what is done."""

    def close(self) -> None:
        """Say what of the recording is left."""
        if self._miss is None and (entry := self._turnstile.undone) is not None:
            self._missed(f"The session ended, and the recording goes on with {named(key_of(entry))}.")
        elif self._miss is None and not self._tape.whole:
            self._missed("The recording was cut off here.")
        self._turnstile.end()

    # How it is played.

    async def _next(self, key: Key) -> Entry | None:
        within = self._within.get()
        if not within and not (key[0] == "event" and key[1] in OF_THEMSELVES):
            return await self._turnstile.turn(key)
        nested = self._tape.nested.get(within, ())
        entry = next((entry for entry in nested if key_of(entry) == key), None)
        if entry is not None:
            self._tape.nested[within].remove(entry)
        return entry

    async def _run(self, call: ToolUse, run: Callable[[], Awaitable[CallEnd]]) -> CallEnd:
        depth = self._depth.set(self._depth.get() + 1)
        try:
            with self._busy(1), self._inside(call.id):
                return await run()
        finally:
            self._depth.reset(depth)

    @contextmanager
    def _busy(self, calls: int) -> Iterator[None]:
        self._turnstile.busy += calls
        try:
            yield
        finally:
            self._turnstile.busy -= calls

    @contextmanager
    def _inside(self, place: str) -> Iterator[None]:
        outer = self._within.get()
        token = self._within.set(f"{outer}/{place}" if outer else place)
        try:
            yield
        finally:
            self._within.reset(token)

    def _clock(self, row: str, real: Callable[[], float]) -> float:
        if self._within.get():
            return real()
        values = self._read(row)
        self._clocks[row] = values.popleft() if values else self._clocks.get(row, 0.0)
        return self._clocks[row]

    def _read(self, row: str) -> deque[Any] | None:
        """Return what is left of a row, once all is done that came before its next value."""
        self._turnstile.before_reading(row)
        self._pace.reads(row)
        self._turnstile.behind_reading()
        return self._tape.rows.get(row)

    def _show(self, entry: Entry) -> None:
        match entry["e"]:
            case "told":
                self._tell(decoded(entry["event"]))
            case "did" if entry["what"] == "reload":
                self._missed(f"The settings changed here, which is not played: {'; '.join(entry['given']['told'])}")
            case "did":
                self._deeds.do(entry["what"], decoded(entry["given"]))
            case "inbox":
                shown = decoded(entry["shown"])
                self._inbox.put(entry["text"], shown=shown, kind=entry["kind"], priority=entry["priority"])
            case "expect":
                expectation = self._inbox.expect()
                expectation.__enter__()
                self._expectations.append(expectation)
            case "expected":
                self._expectations.pop().__exit__(None, None, None)

    def _compare(self, what: str, recorded: Any, came: Any) -> None:
        before, after = self._comparable(recorded), self._comparable(came)
        if before != after:
            self._missed(f"{what}:\n{difference(before, after)}")

    def _compare_results(self, call: ToolUse, recorded: CallEnd, came: CallEnd) -> None:
        before, after = self._comparable(plain(recorded.block)), self._comparable(plain(came.block))
        if before != after:
            how = difference(before.get("content"), after.get("content"))
            failed = {True: "failed", False: "succeeded"}
            now, then = failed[bool(after.get("is_error"))], failed[bool(before.get("is_error"))]
            state = f" It {now} now and {then} then." if now != then else ""
            self._differences.append(f"{call.name} ({call.id}) came to something else.{state}\n{how}")

    def _missed(self, text: str, *, ends: bool = True) -> None:
        """Take note of the first miss, which `ends` the turn where nothing else will."""
        if self._miss is None:
            self._miss = text
            self._turnstile.end()
            self._deeds.end()
            if ends:
                self._interrupt("engine_stop")


def _end_of_event(end: EventEnd, value: Any) -> EventEnd:
    """Return an end; a request that a listener rewrote goes out with what belongs to this session."""
    request, now = getattr(end.outcome, "request", None), getattr(value, "request", None)
    if request is not None and now is not None:
        vars(request).update(env=now.env, stash=now.stash)
    return end
