"""What a session gets from outside."""

from __future__ import annotations

from typing import Any, cast
from uuid import uuid4

from toolpost_core.events.outside import Outside


class Kept:
    """A world that has ids of an earlier time."""

    def __init__(self, ids: list[str]) -> None:
        self._ids = iter(ids)

    def new_id(self, purpose: str) -> str:
        assert purpose == "wait"
        return next(self._ids)


def test_chance_is_spread_over_its_range_and_the_same_when_it_is_played() -> None:
    ids = [
        "00000000-0000-4000-8000-000000000000",
        "ffffffff-0000-4000-8000-000000000000",
        *map(str, (uuid4(), uuid4())),
    ]
    one, again = (Outside(cast("Any", Kept(ids))) for _ in range(2))
    drawn = [one.chance("wait") for _ in ids]

    assert drawn[:2] == [0.0, 1.0]
    assert drawn == [again.chance("wait") for _ in ids]
    assert len({Outside().chance("wait") for _ in range(100)}) > 90
