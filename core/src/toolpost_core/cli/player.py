"""Does with a session what was done with the recorded one."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from toolpost import ToolpostError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine, Mapping

    from toolpost import SessionEvent
    from toolpost_core.session.session import Session

TURNS: Final = ("submit", "go_on", "compact")
"""What takes the session, one after the other."""
BETWEEN: Final = ("clear", "rewind_files", "rewind_conversation")
"""What is done while nothing takes it, in their order with those."""
BESIDE: Final = ("set_model",)
"""What takes some time, at any time, one after the other as well."""
AT_ONCE: Final = (
    "enqueue",
    "interrupt",
    "set_effort",
    "set_permission_mode",
    "set_thinking",
    "withdraw",
)
"""What is done while it is asked for."""


class Player:
    """Drives one session. `do` is told what comes next; `events` yields what the session shows by that, until `end`."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._next: asyncio.Queue[SessionEvent | Callable[[], AsyncIterator[SessionEvent]] | None] = asyncio.Queue()
        self._beside: asyncio.Task[None] | None = None
        self._left = False

    def do(self, what: str, given: Mapping[str, Any]) -> None:
        """Do one thing, now or as soon as what takes the session allows it. What was refused then is refused again."""
        session = self._session
        if what == "end":
            self._next.put_nowait(None)
        elif what == "leave":
            self._left = True
            session.end_turn("engine_stop")
        elif what == "spent":
            session.parts.budget.take_over(given["line"])
        elif what == "tell":
            if not session.tell(given["event"]):
                self._next.put_nowait(given["event"])
        elif what == "update_rules":
            # Rules that were kept in a file then are those of the session now: a file is nobody's to change here.
            _at_once(
                session.update_rules, updates=[{**update, "destination": "session"} for update in given["updates"]]
            )
        elif what in TURNS:
            self._next.put_nowait(lambda: getattr(session, what)(**given))
        elif what in BETWEEN:
            self._next.put_nowait(lambda: _shows_nothing(getattr(session, what)(**given)))
        elif what in BESIDE:
            self._beside = asyncio.create_task(_one_after_the_other(self._beside, getattr(session, what)(**given)))
        elif what in AT_ONCE:
            _at_once(getattr(session, what), **given)

    async def events(self) -> AsyncIterator[SessionEvent]:
        """Yield the events of every turn, and what is told between them."""
        while (item := await self._next.get()) is not None:
            if not callable(item):
                yield item
                continue
            self._left = False
            with suppress(ToolpostError):  # it was told when it was recorded
                async for event in item():
                    if not self._left:
                        yield event
        if self._beside is not None:
            await self._beside


def _at_once(method: Callable[..., object], **given: Any) -> None:
    with suppress(ToolpostError):  # it was told when it was recorded
        method(**given)


async def _shows_nothing(work: Coroutine[Any, Any, object]) -> AsyncIterator[SessionEvent]:
    events: tuple[SessionEvent, ...] = ()
    await work
    for event in events:
        yield event


async def _one_after_the_other(before: asyncio.Task[None] | None, work: Coroutine[Any, Any, object]) -> None:
    if before is not None:
        await asyncio.wait({before})
    with suppress(ToolpostError):  # it was told when it was recorded
        await work
