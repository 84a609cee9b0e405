"""What the loop needs of a terminal, whether it can redraw or not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from toolpost import PermissionMode, Reply, SessionDoor, SessionEvent, View

    from .asking import Choice
    from .draw import Drawing
    from .menu import Entry


class Stage(Protocol):
    """A terminal."""

    async def next_line(self) -> str | None:
        """Return what the person sends next; None when they are done. Nothing is lost where this is cancelled."""

    def show(self, kind: str, *drawings: Drawing) -> None:
        """Draw for good, below all that was drawn before, and set off from what is of another kind."""

    def follow(self, event: SessionEvent) -> None:
        """Draw an event, and what it changes of what goes on."""

    def busy(self, activity: str, turn: SessionDoor | None = None) -> None:
        """Something began that takes time; where it is a turn of a session, the person may end it or send more to it."""

    def idle(self) -> None:
        """It is over."""

    def seen(self, view: View | None) -> None:
        """Remember that a question showed this."""

    async def choose(self, choices: Sequence[Choice]) -> tuple[str, Reply]:
        """Have the person choose; return the label of what they chose and the reply that it stands for."""

    async def pick(self, entries: Sequence[Entry]) -> int | None:
        """Have the person pick an entry; return its number from 0, or None for none."""

    def fill(self, text: str) -> None:
        """Give the person a text to change and send."""

    def status(self, text: str, next_mode: Callable[[], PermissionMode] | None = None) -> None:
        """Show the state of the session in a corner; `next_mode` changes the mode."""
