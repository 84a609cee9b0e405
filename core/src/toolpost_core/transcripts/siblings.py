"""Records beside the chain that belong to it: other programs let parallel calls and their results be siblings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from toolpost_core.transcripts.chain import is_message
from toolpost_core.transcripts.mending import sound_blocks

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from toolpost_core.transcripts.chain import Links


def with_siblings(links: Links, chain: Sequence[int], records: Sequence[Mapping[str, Any]]) -> Sequence[int]:
    """Return the positions of a chain and of those of its answers' records beside it, in the order of the file.

    Such is a block of an answer in the chain whose parent is in it too, and a result that a call of the chain has not yet.
    """
    found = set(chain)
    beside = [position for position in links.spoken() if position not in found]
    if not beside:
        return chain
    family = _Family()
    for position in chain:
        family.add(records[position])
    for position in beside:
        if family.has(records[position]):
            family.add(records[position])
            found.add(position)
    return sorted(found)


class _Family:
    """The records of a conversation: their ids, those of its answers, and of calls with and without results."""

    def __init__(self) -> None:
        self._uuids, self._answers = set[str](), set[str]()
        self._asked, self._answered = set[str](), set[str]()

    def add(self, record: Mapping[str, Any]) -> None:
        self._uuids.add(str(record.get("uuid")))
        self._answers.update(_answer(record))
        self._asked.update(_ids(record, "tool_use", "id"))
        self._answered.update(_ids(record, "tool_result", "tool_use_id"))

    def has(self, record: Mapping[str, Any]) -> bool:
        """Whether a record belongs to it, and is none of it yet."""
        if str(record.get("uuid")) in self._uuids:
            return False
        if not self._answers.isdisjoint(_answer(record)):
            return str(record.get("parentUuid")) in self._uuids
        return any(name in self._asked - self._answered for name in _ids(record, "tool_result", "tool_use_id"))


def _answer(record: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the id of the answer that a record holds a block of, if it does."""
    message = record.get("message")
    name = message.get("id") if record.get("type") == "assistant" and isinstance(message, dict) else None
    return (name,) if isinstance(name, str) and name else ()


def _ids(record: Mapping[str, Any], kind: str, key: str) -> Iterator[str]:
    if is_message(record):
        blocks: list[Any] = list(sound_blocks(record["message"]))
        yield from (str(block[key]) for block in blocks if block["type"] == kind)
