"""A session as its transcript has it: the conversation to go on with, repaired where a crash cut it."""

from __future__ import annotations

from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final, Literal, NamedTuple, cast

from toolpost import SessionError
from toolpost._frozen import frozen
from toolpost_core.transcripts.chain import LINKED, Links, is_message, since_boundary
from toolpost_core.transcripts.kinds import QUEUE, REPLACEMENT, REWIND, STATES, TITLE, TOMBSTONE
from toolpost_core.transcripts.mending import repaired, sound_blocks
from toolpost_core.transcripts.migration import is_newer
from toolpost_core.transcripts.reading import GUARD, kind_of, last_boundary, lines_in, records_in
from toolpost_core.transcripts.replaced import by_name, replaced
from toolpost_core.transcripts.siblings import with_siblings
from toolpost_core.transcripts.spilling import whole
from toolpost_core.transcripts.thoughts import sent_on

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from toolpost import Message

HEEDED: Final = frozenset(
    kind.encode() for kind in ("", *LINKED, "summary", QUEUE, REPLACEMENT, REWIND, TOMBSTONE, *STATES)
)
"""The types of records that say how a session goes on; a plugin's are not even parsed."""
MOST_NAMED: Final = 5
"""The most damaged lines that are named one by one."""
UNSENT: Final = ("toolUseResult", "hookInfos")
"""What records hold beside what is sent: nothing that a session goes on with."""


@frozen()
class History:
    """A session as its file has it. `leaf` is the uuid of the newest record of the chain, `path` the file.

    `states` has what the last record of each of `transcript.STATES` says, `queued` what still waits in the queue.
    `answered_by` is the model of its last answer, as the service called it.
    `begin` and `end` say which bytes of the file were read; `newer` that a version wrote them that knows more than this.
    """

    session_id: str
    messages: tuple[Message, ...]
    leaf: str | None
    cwd: Path | None = None
    warnings: tuple[str, ...] = ()
    path: Path | None = None
    states: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    queued: tuple[Mapping[str, Any], ...] = ()
    answered_by: str | None = None
    begin: int = 0
    end: int = 0
    newer: bool = False

    def records(self) -> Iterable[Mapping[str, Any]]:
        """Read every record of the file. Raises SessionError."""
        return records_in(self.path) if self.path is not None else ()

    @property
    def title(self) -> str | None:
        """What the session was called last."""
        title = self.states.get(TITLE, {}).get("customTitle")
        return title if isinstance(title, str) else None


def read(path: Path, *, agent: str | None = None, guard: int = GUARD) -> History:
    """Read a transcript, of one that was compacted the end only, and never more than `guard` bytes. Raises SessionError.

    Lines that are cut off or damaged are passed over and named. `agent` is the id of a sub-agent whose file it is.
    """
    for begin in _beginnings(path, guard):
        part = _read(path, begin.offset, agent)
        if begin.suffices or part.is_enough:
            return _history(path, part, begin)
    raise AssertionError("unreachable")


def conversation_of(chain: Sequence[Mapping[str, Any]], records: Iterable[Mapping[str, Any]]) -> list[Message]:
    """Return the messages of a chain that are sent; `records` say what is sent in the place of long results."""
    return _messages(since_boundary(chain), _replacements(records))


class _Begin(NamedTuple):
    """An offset to read from, and the file's size. It suffices where nothing before it is read whatever is found."""

    offset: int
    size: int
    suffices: bool
    told: str = ""


class _Part(NamedTuple):
    """What was read of a file."""

    begin: int
    records: Sequence[Mapping[str, Any]]
    links: Links
    chain: Sequence[int]
    damaged: Sequence[str]

    @property
    def is_enough(self) -> bool:
        """Whether nothing is missing that comes before it."""
        return not self.links.broken and any(map(is_message, self.records))


def _beginnings(path: Path, guard: int) -> Iterable[_Begin]:
    """Yield where to begin to read: the last boundary, and where that is not enough, all that the guard allows."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            floor = 0 if size <= guard else _next_line(file, size - guard)
            boundary = last_boundary(file, floor, size)
    except OSError as error:
        raise SessionError(f"The session file {path} can't be read: {error.strerror or error}.") from error
    if boundary is not None:
        yield _Begin(boundary, size, suffices=False)
    told = ""
    if floor:
        told = f"{path.name} has {size / 1e6:,.0f} MB: the conversation goes on from its last {(size - floor) / 1e6:,.0f} MB"
    yield _Begin(floor, size, suffices=True, told=told)


def _next_line(file: BinaryIO, offset: int) -> int:
    file.seek(offset - 1)
    file.readline()
    return file.tell()


def _read(path: Path, begin: int, agent: str | None) -> _Part:
    records: list[Mapping[str, Any]] = []
    links = Links(agent=agent)
    damaged: list[str] = []
    for line in lines_in(path, begin, lambda raw: kind_of(raw) in HEEDED or not raw.endswith(b"\n")):
        if line.record is None:
            damaged.append(f"line {line.number}" if begin == 0 else f"the line at byte {line.offset:,}")
            continue
        record = {key: value for key, value in line.record.items() if key not in UNSENT}
        records.append(record)
        links.add(record)
    return _Part(begin, records, links, with_siblings(links, links.chain(), records), damaged)


def _history(path: Path, part: _Part, begin: _Begin) -> History:
    records = part.records
    if not any(map(is_message, records)):
        raise SessionError(f"The session file {path} holds no conversation: none of its lines is a message.")
    chain = [whole(records[position], path) for position in part.chain]
    last = chain[-1] if chain else {}
    cwd = last.get("cwd")
    warnings = [f"{path.name}: {place} is damaged and was passed over" for place in part.damaged[:MOST_NAMED]]
    if more := len(part.damaged) - len(warnings):
        warnings.append(f"{path.name}: {more:,} more lines are damaged and were passed over")
    return History(
        session_id=str(last.get("sessionId", path.stem)),
        messages=repaired(conversation_of(sent_on(chain, records), records)),
        leaf=last.get("uuid"),
        cwd=Path(cwd) if isinstance(cwd, str) else None,
        warnings=(*([begin.told] if begin.told else []), *warnings),
        path=path,
        states={str(record["type"]): _facts(record) for record in records if record.get("type") in STATES},
        queued=_queued(records),
        answered_by=next((str(r["message"].get("model")) for r in reversed(chain) if r["type"] == "assistant"), None),
        begin=part.begin,
        end=begin.size,
        newer=any(map(is_newer, records)),
    )


def _facts(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a side record says, without what each says."""
    return {key: value for key, value in record.items() if key not in ("type", "sessionId", "timestamp", "schema")}


def _queued(records: Sequence[Mapping[str, Any]]) -> tuple[Mapping[str, Any], ...]:
    """Return what was put into the queue and not taken out; records of other programs name no item, the first is meant."""
    waiting: list[Mapping[str, Any]] = []
    for record in records:
        if record.get("type") != QUEUE:
            continue
        operation, item = record.get("operation"), record.get("queuedId")
        if operation == "enqueue":
            waiting.append(record)
        elif operation == "popAll":
            waiting.clear()
        else:
            gone = next((w for w in waiting if w.get("queuedId") == item), None)
            waiting = [w for w in waiting if w is not gone]
    return tuple(waiting)


def _replacements(records: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return what stands in the place of results that were too long, and of blocks that were refused."""
    return by_name(record.get("replacements") for record in records if record.get("type") == REPLACEMENT)


def _messages(chain: Sequence[Mapping[str, Any]], replacements: Mapping[str, Any]) -> list[Message]:
    """Put the records of one answer back into one message, also where results were written before its last blocks."""
    messages: list[Message] = []
    answer, place = "", 0  # the last answer and where it stands; a word of the user ends it
    for record in chain:
        message = cast("Mapping[str, Any]", record["message"])
        role: Literal["user", "assistant"] = "assistant" if record["type"] == "assistant" else "user"
        content = [replaced(block, replacements) for block in sound_blocks(message)]
        if role == "assistant" and answer and answer == str(message.get("id")):
            messages[place] = {"role": role, "content": [*sound_blocks(messages[place]), *content]}
            continue
        if role == "assistant":
            answer, place = str(message.get("id") or ""), len(messages)
        elif any(block["type"] != "tool_result" for block in content):
            answer = ""
        messages.append({"role": role, "content": content})
    return messages
