"""What listeners come to, as a `World` takes and returns it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, cast

from toolpost import EventEnd
from toolpost_core.events.dispatch import Emission

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from toolpost import World

O = TypeVar("O")  # noqa: E741


async def emission(world: World, name: str, value: Any, emit: Callable[[], Awaitable[Emission[O]]]) -> Emission[O]:
    """Emit through a world; who answered what is only there where the listeners were called."""
    emitted: list[Emission[O]] = []

    async def through() -> EventEnd:
        emitted.append(await emit())
        return EventEnd(cast("Any", emitted[0].outcome), emitted[0].failure)

    end = await world.event(name, value, through)
    answers = emitted[0].answers if emitted else ()
    return Emission(cast("O | None", end.outcome), answers, end.failure)
