"""What a session gets from outside, as its own parts ask for it; without a `World` it is what it is."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import uuid4

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from toolpost import Asker, Inbox, Provider, Question, Reply, SessionEvent, World
    from toolpost_core.events.dispatch import Emission

O = TypeVar("O")  # noqa: E741
S = TypeVar("S")


class Outside:
    """Asks the world, where a session has one; made before it, as a service of the session makes it."""

    def __init__(self, world: World | None = None) -> None:
        self.world = world

    def now(self) -> float:
        """Return the clock of the day, in seconds since 1970."""
        return time.time() if self.world is None else self.world.now()

    def monotonic(self) -> float:
        """Return a clock that only goes on, in seconds."""
        return time.monotonic() if self.world is None else self.world.monotonic()

    def new_id(self, purpose: str = "session") -> str:
        """Return a new id; those of each purpose are a row of their own."""
        return str(uuid4()) if self.world is None else self.world.new_id(purpose)

    def chance(self, purpose: str) -> float:
        """Return a number from 0 to 1 by chance; it is read from a new id, so that a replay has it again."""
        return int(self.new_id(purpose)[:8], 16) / 0xFFFF_FFFF

    def provider(self, choose: Callable[[], tuple[Provider, str]]) -> tuple[Provider, str]:
        """Return the provider and its plugin's name."""
        return choose() if self.world is None else self.world.provider(choose)

    async def gather(self, what: str, make: Callable[[], Awaitable[Sequence[S]]]) -> Sequence[S]:
        """Return what a source adds to the prompt."""
        return await (make() if self.world is None else self.world.gather(what, make))

    def hears(self, name: str, heard: bool) -> bool:
        """Whether anybody listens to an event."""
        return heard if self.world is None else self.world.hears(name, heard)

    async def event(self, name: str, value: Any, emit: Callable[[], Awaitable[Emission[O]]]) -> Emission[O]:
        """Return what listeners come to."""
        if self.world is None:
            return await emit()
        from toolpost_core.events.replayed import emission

        return await emission(self.world, name, value, emit)

    def asker(self, ask: Asker | None) -> Asker | None:
        """Return what puts questions to a person."""
        world = self.world
        if ask is None or world is None:
            return ask

        async def through(question: Question) -> Reply:
            return await world.ask(question, ask)

        return through

    def inbox(self, inbox: Inbox) -> Inbox:
        """Return the inbox as plugins get it."""
        return inbox if self.world is None else self.world.inbox(inbox)

    def looks(self) -> None:
        """Tell that the session looks into its inbox."""
        if self.world is not None:
            self.world.looks()

    def tells(self, event: SessionEvent) -> bool:
        """Whether an event of the session is shown."""
        return self.world is None or self.world.tells(event)

    def did(self, what: str, **given: Any) -> None:
        """Tell of what is done with the session."""
        if self.world is not None:
            self.world.did(what, given)

    def close(self) -> None:
        """Tell that the session is over."""
        if self.world is not None:
            self.world.close()
