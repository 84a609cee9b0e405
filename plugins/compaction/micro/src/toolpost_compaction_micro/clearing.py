"""Which results and media are old, how much they hold, and the conversation without them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from toolpost import Message, tokens_in

CLEARED = "[Old tool result content cleared]"
_MEDIA = ("image", "document")


class Place(NamedTuple):
    """Where a block stands: the message's index, and the block's in it."""

    message: int
    block: int


def old_places(messages: Sequence[Message], tools: Collection[str], keep: int) -> list[Place]:
    """Return where results of `tools` and media that a person sent stand, oldest first, without the newest `keep`."""
    calls: set[str] = set()
    places: list[Place] = []
    for index, message in enumerate(messages):
        for number, block in enumerate(_blocks(message)):
            kind = block["type"]
            if kind == "tool_use" and block["name"] in tools:
                calls.add(block["id"])
            elif kind in _MEDIA or (kind == "tool_result" and block["tool_use_id"] in calls):
                places.append(Place(index, number))
    return places[: max(len(places) - keep, 0)]


def gains(messages: Sequence[Message], places: Sequence[Place]) -> dict[Place, int]:
    """Return the tokens that clearing each place would free, estimated; those that free none are left out."""
    found = {place: _gain(_blocks(messages[place.message])[place.block]) for place in places}
    return {place: gain for place, gain in found.items() if gain > 0}


def clear(messages: Sequence[Message], places: Collection[Place]) -> list[Message]:
    """Return the conversation with these blocks cleared; messages without any stay the same objects."""
    touched: dict[int, set[int]] = {}
    for place in places:
        touched.setdefault(place.message, set()).add(place.block)
    return [
        _without(message, touched[index]) if index in touched else message for index, message in enumerate(messages)
    ]


def _without(message: Message, numbers: Collection[int]) -> Message:
    content = [_cleared(block) if number in numbers else block for number, block in enumerate(_blocks(message))]
    return {"role": message["role"], "content": content}


def _cleared(block: Any) -> Any:
    if block["type"] in _MEDIA:
        return {"type": "text", "text": f"[{block['type']}]"}
    return {**block, "content": CLEARED}


def _gain(block: Any) -> int:
    return tokens_in([block]) - tokens_in([_cleared(block)])


def _blocks(message: Message) -> list[Any]:
    return [] if isinstance(message["content"], str) else message["content"]
