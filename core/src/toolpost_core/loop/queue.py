"""What the model is to read at the next opportunity: prompts, the ends of background work, words of hooks."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias
from uuid import uuid4

import toolpost
from toolpost_core.tools.watched import watched

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from toolpost import AbortSignal, Notice, Priority, Queued, QueueKind

    Operation: TypeAlias = Literal["enqueue", "dequeue", "remove"]

ORDER: Final[dict[Priority, int]] = {"now": 0, "next": 1, "later": 2}


@dataclass
class _Entry:
    """`wakes` says that it begins a turn by itself, `kept` that the transcript knows that it waits."""

    queued: Queued
    wakes: bool
    kept: bool
    shown: Notice | None = None


class MessageQueue:
    """The `Inbox` of a session, with its prompts: everything waits here until a request takes it along.

    `show` tells front ends, `record` the transcript of what had to wait; `look` is told before something is taken out. A
    queue that `waits` holds a run at the model's end while a text is expected: nobody may be there to begin another one.
    """

    def __init__(
        self,
        show: Callable[[Notice], None],
        record: Callable[[Operation, Queued], None] = lambda *_: None,
        *,
        waits: bool,
        new_id: Callable[[], str] = lambda: str(uuid4()),
        look: Callable[[], None] = lambda: None,
    ) -> None:
        self.busy = False
        self._show = show
        self._record = record
        self._waits = waits
        self._new_id = new_id
        self._look = look
        self._entries: list[_Entry] = []
        self._expected = 0
        self._changed = asyncio.Event()

    # What puts something in.

    def put(
        self, text: str, *, shown: Notice | None = None, kind: QueueKind = "context", priority: Priority = "next"
    ) -> None:
        """Let the model read a text; one that was expected is worth a turn, whatever its kind."""
        if not text.strip():
            return
        queued = toolpost.Queued(id=self._new_id(), content=text, kind=kind, priority=priority)
        if self.busy and shown is not None:
            self._show(shown)
            shown = None
        self._add(queued, wakes=kind != "context" or self._expected > 0, shown=shown)

    def add(self, prompt: Queued) -> None:
        """Let a prompt wait for its turn."""
        self._add(prompt, wakes=True)

    @contextmanager
    def expect(self) -> Iterator[None]:
        """While this is entered a text is to come."""
        self._expected += 1
        try:
            yield
        finally:
            self._expected -= 1
            self._changed.set()

    # What takes something out.

    def waiting(self) -> tuple[Queued, ...]:
        """Return what waits and is worth a turn, in the order in which it will be read."""
        return tuple(entry.queued for entry in self._sorted() if entry.queued.kind != "context")

    def withdraw(self, id: str) -> Queued | None:
        """Take one back; None where it was read, or never there."""
        entry = next((entry for entry in self._entries if entry.queued.id == id), None)
        return self._out(entry, "remove") if entry is not None else None

    def take_prompt(self) -> Queued | None:
        """Return the prompt whose turn it is, if one waits."""
        first = next((entry for entry in self._sorted() if entry.queued.kind == "prompt"), None)
        return self._out(first) if first is not None else None

    def take_texts(self) -> tuple[str, ...]:
        """Return all that waits beside prompts, for a turn that begins; what nobody was shown yet is shown."""
        self._look()
        return tuple(self._out(entry).text for entry in self._sorted() if entry.queued.kind != "prompt")

    def take_next(self) -> Queued | None:
        """Return the first of what goes with the results of calls; None where nothing does."""
        self._look()
        first = next((entry for entry in self._sorted() if entry.queued.priority != "later"), None)
        return self._out(first) if first is not None else None

    def clear(self) -> None:
        """Forget all of it."""
        for entry in list(self._entries):
            self._out(entry, "remove")

    # Whether a turn is due.

    @property
    def due(self) -> bool:
        """Whether something waits that begins a turn."""
        return any(entry.wakes for entry in self._entries)

    async def until_due(self) -> None:
        """Return once something waits that begins a turn."""
        while not self.due:
            self._changed.clear()
            await self._changed.wait()

    def calm(self) -> None:
        """Let nothing but prompts begin a turn of what waits now: the person has just ended one."""
        for entry in self._entries:
            entry.wakes = entry.queued.kind == "prompt"

    async def at_end(self, abort: AbortSignal) -> tuple[str, ...]:
        """Return what keeps a run from ending: texts that are worth a turn, and where one is expected that. Raises Aborted.

        A prompt has a run of its own, so that this run ends for it.
        """
        if not self._waits:
            return ()
        self._look()
        while self._expected and not self.due:
            self._changed.clear()
            await watched(self._something_changed(), abort)
        prompt = any(entry.queued.kind == "prompt" for entry in self._entries)
        return self.take_texts() if self.due and not prompt else ()

    async def _something_changed(self) -> None:
        await self._changed.wait()

    def _add(self, queued: Queued, *, wakes: bool, shown: Notice | None = None) -> None:
        kept = self.busy and queued.kind != "context"
        self._entries.append(_Entry(queued, wakes, kept, shown))
        if kept:
            self._record("enqueue", queued)
        self._changed.set()

    def _out(self, entry: _Entry, operation: Operation = "dequeue") -> Queued:
        self._entries.remove(entry)
        if entry.kept:
            self._record(operation, entry.queued)
        if entry.shown is not None and operation == "dequeue":
            self._show(entry.shown)
        return entry.queued

    def _sorted(self) -> list[_Entry]:
        return sorted(self._entries, key=lambda entry: ORDER[entry.queued.priority])
