"""Which of a transcript's records make the conversation: the links between them, and nothing of what they hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from toolpost_core.transcripts.kinds import BOUNDARY, REWIND, TOMBSTONE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

LINKED = ("user", "assistant", "system", "attachment", "progress")
"""The types of records that others may name as their parent."""


class _Node(NamedTuple):
    """A linked record: where it stands, its parent; the boundary that it is a message of, and how many one must have."""

    position: int
    uuid: str
    parent: str | None
    speaks: bool
    boundary: str | None = None
    messages: int | None = None


class Links:
    """The links of records that are added in the order of the file; with `agent`, those of a sub-agent.

    `broken` says after `chain` that a record named a parent that is not there.
    """

    def __init__(self, records: Iterable[Mapping[str, Any]] = (), agent: str | None = None) -> None:
        self.broken = False
        self._agent = agent
        self._count = 0
        self._nodes: list[_Node] = []
        self._place: dict[str, int] = {}
        self._leaf = -1
        self._dead: set[str] = set()
        self._copies: dict[str, int] = {}
        for record in records:
            self.add(record)

    def add(self, record: Mapping[str, Any]) -> None:
        """Take in the next record."""
        kind, position = record.get("type"), self._count
        self._count += 1
        if kind == REWIND:
            leaf = record.get("leafUuid")
            self._leaf = -1 if leaf is None else self._place.get(str(leaf), -1)
            self.broken = self.broken or (self._leaf < 0 and leaf is not None)
        elif kind == TOMBSTONE:
            uuids = record.get("uuids")
            self._dead.update(map(str, uuids if isinstance(uuids, list) else ()))
        elif kind in LINKED and is_own(record, self._agent):
            self._link(record, position)

    def chain(self) -> list[int]:
        """Return the positions of the conversation's records, the oldest first, boundaries of compactions among them.

        It is walked from the newest message to the root; where a link is missing, it goes on with the record before in
        the file. Behind a boundary that a kill cut off goes what was before it. Where the conversation was rewound after
        the newest message, it ends at what it went back to.
        """
        found: list[_Node] = []
        index = self._leaf
        while index >= 0:
            node = self._nodes[index]
            if node.messages is None:
                if node.speaks and node.uuid not in self._dead:
                    found.append(node)
            elif self._is_whole(node):
                found.append(node)
            else:
                found = [kept for kept in found if kept.boundary != node.uuid]
            index = self._before(index)
        return [node.position for node in reversed(found)]

    def spoken(self) -> list[int]:
        """Return the positions of all messages that were not discarded, in the conversation or not."""
        return [node.position for node in self._nodes if node.speaks and node.uuid not in self._dead]

    def _link(self, record: Mapping[str, Any], position: int) -> None:
        uuid, speaks = str(record.get("uuid")), is_message(record)
        parent, boundary, messages = record.get("parentUuid"), record.get("boundaryUuid"), None
        if is_boundary(record):
            parent = record.get("logicalParentUuid", parent)
            facts = record.get("compactMetadata")
            count = facts.get("messages") if isinstance(facts, Mapping) else None
            messages = count if isinstance(count, int) else 0
        elif speaks and boundary is not None:
            self._copies[str(boundary)] = self._copies.get(str(boundary), 0) + 1
        place = self._place[uuid] = len(self._nodes)
        self._nodes.append(
            _Node(
                position,
                uuid,
                None if parent is None else str(parent),
                speaks,
                None if boundary is None else str(boundary),
                messages,
            )
        )
        if speaks:
            self._leaf = place

    def _before(self, index: int) -> int:
        node = self._nodes[index]
        if node.parent is None:
            return -1
        place = self._place.get(node.parent)
        if place is None:
            if self._is_whole(node):
                return -1  # what is needed may be all that was read
            self.broken = True
        if place is not None and place < index:
            return place
        index -= 1
        while index >= 0 and not self._nodes[index].speaks and self._nodes[index].messages is None:
            index -= 1
        return index

    def _is_whole(self, node: _Node) -> bool:
        """Whether a node is a boundary whose messages are all there."""
        return node.messages is not None and self._copies.get(node.uuid, 0) >= node.messages


def chain_of(records: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return those of a transcript's records that make the conversation, the oldest first."""
    return [records[position] for position in Links(records).chain()]


def is_own(record: Mapping[str, Any], agent: str | None = None) -> bool:
    """Whether a record is of the session's own conversation, or of that of a sub-agent."""
    return not record.get("isSidechain") if agent is None else record.get("agentId") == agent


def since_boundary(chain: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    """Return what of a chain is behind its last boundary: only that is sent."""
    last = max((index for index, record in enumerate(chain) if is_boundary(record)), default=-1)
    return chain[last + 1 :]


def is_message(record: Mapping[str, Any]) -> bool:
    """Whether a record holds a message."""
    return record.get("type") in ("user", "assistant") and isinstance(record.get("message"), Mapping)


def is_boundary(record: Mapping[str, Any]) -> bool:
    """Whether the conversation begins anew behind a record."""
    return record.get("type") == "system" and record.get("subtype") == BOUNDARY
