"""What can be changed in a request that was refused, so that it is taken the second time."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from toolpost import ProviderError, Retrying, StreamEvent

from . import thinking
from .body import max_tokens

if TYPE_CHECKING:
    from toolpost import ModelRequest

    from .models import Model

ROOM: Final = 1_000
"""Tokens that are left free, since a prompt may be counted a little differently the next time."""
LEAST: Final = 3_000
"""Tokens of an answer that is still worth to ask for; with less room the prompt is what is too long."""
_NO_ROOM: Final = re.compile(r"max_tokens. exceed context limit: (\d+) \+ (\d+) > (\d+)")
_NO_THOUGHT: Final = re.compile(r"Expected .thinking.")


async def with_mending(
    ask: Callable[[ModelRequest], AsyncGenerator[StreamEvent]], request: ModelRequest, model: Model
) -> AsyncGenerator[StreamEvent]:
    """Yield an answer's events; ask again with a changed request where one was refused that can be mended."""
    mending, begun = Mending(), False
    while True:
        try:
            async with aclosing(ask(request)) as events:
                async for event in events:
                    begun = begun or not isinstance(event, Retrying)
                    yield event
            return
        except ProviderError as error:
            mended = None if begun else mending.mended(request, model, error)
            if mended is None:
                raise
            request = mended


class Mending:
    """The second tries of one request: each kind of mending is done once."""

    def __init__(self) -> None:
        self._tried: set[str] = set()

    def mended(self, request: ModelRequest, model: Model, error: ProviderError) -> ModelRequest | None:
        """Return the request as it may be taken; None where nothing helps."""
        if error.status != 400:
            return None
        said = str(error.details.get("message", ""))
        mend = next((mend for mend in _MENDS if mend[0].search(said) and mend[0].pattern not in self._tried), None)
        if mend is None:
            return None
        self._tried.add(mend[0].pattern)
        return mend[1](request, model, said)


def _with_room(request: ModelRequest, model: Model, said: str) -> ModelRequest | None:
    """Ask for no longer an answer than the prompt leaves room for."""
    found = _NO_ROOM.search(said)
    if found is None:
        return None
    room = int(found[3]) - int(found[1]) - ROOM
    if room - thinking.budget(request, model) < LEAST or room >= max_tokens(request, model):
        return None
    return replace(request, max_tokens=room)


def _without_thinking(request: ModelRequest, model: Model, said: str) -> ModelRequest | None:
    """Do not think: under a budget, an answer whose thoughts are gone can't be gone on with."""
    del model, said
    return replace(request, thinking="disabled")


_MENDS: Final = (
    (_NO_ROOM, _with_room),
    (_NO_THOUGHT, _without_thinking),
)
