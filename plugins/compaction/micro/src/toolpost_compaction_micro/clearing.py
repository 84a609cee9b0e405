"""Which results and media are old, and the conversation without them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from toolpost import Digest, Message, tokens_in

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


class Cleared(NamedTuple):
    """What would stand in the place of a block, and the tokens that come free, estimated."""

    block: Any
    gain: int


def cleared(messages: Sequence[Message], places: Sequence[Place]) -> dict[Place, Cleared]:
    """Return what would stand in each place; those where nothing comes free are left out.

    Of a result the lines stay that tell of errors: nobody would run a command again to find out that it failed.
    """
    errors = Digest.errors_in(messages)
    found = {}
    for place in places:
        old = _blocks(messages[place.message])[place.block]
        if _is_cleared(old):
            continue
        new = _cleared(old, errors)
        if (gain := tokens_in([old]) - tokens_in([new])) > 0:
            found[place] = Cleared(new, gain)
    return found


def with_cleared(messages: Sequence[Message], places: Mapping[Place, Cleared]) -> list[Message]:
    """Return the conversation with blocks cleared; messages without any stay the same objects."""
    made = list(messages)
    for index in {place.message for place in places}:
        content = list(_blocks(messages[index]))
        for number in range(len(content)):
            if (place := Place(index, number)) in places:
                content[number] = places[place].block
        made[index] = {"role": messages[index]["role"], "content": content}
    return made


def _is_cleared(block: Any) -> bool:
    """Whether nothing is left to clear: what stayed of a result stays as it is, for the sake of the prompt cache."""
    content = block.get("content")
    return isinstance(content, str) and content.startswith(CLEARED)


def _cleared(block: Any, errors: Mapping[str, Sequence[str]]) -> Any:
    if block["type"] in _MEDIA:
        return {"type": "text", "text": f"[{block['type']}]"}
    return {**block, "content": "\n".join((CLEARED, *errors.get(block["tool_use_id"], ())))}


def _blocks(message: Message) -> list[Any]:
    return [] if isinstance(message["content"], str) else message["content"]
