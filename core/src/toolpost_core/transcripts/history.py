"""A session as its transcript has it: the conversation to go on with, repaired where a crash cut it."""

from __future__ import annotations

from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, cast

from toolpost import SessionError
from toolpost._frozen import frozen
from toolpost_core.transcripts.chain import LINKED, Links, is_message, since_boundary
from toolpost_core.transcripts.kinds import QUEUE, REPLACEMENT, REWIND, STATES, TITLE, TOMBSTONE
from toolpost_core.transcripts.mending import repaired, sound_blocks
from toolpost_core.transcripts.migration import is_newer
from toolpost_core.transcripts.reading import GUARD, kind_of, last_boundary, lines_in, records_in, unreadable
from toolpost_core.transcripts.replaced import by_name, replaced
from toolpost_core.transcripts.siblings import with_siblings
from toolpost_core.transcripts.spans import Span, Spans, spans_of
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

    Stretches that hold no records do not count, and are told. Lines that are cut off or damaged are passed over and
    named. `agent` is the id of a sub-agent whose file it is.
    """
    for begin in _beginnings(path, guard):
        part = _read(path, begin.spans, agent)
        if begin.suffices or part.is_enough:
            return _history(path, part, begin)
    raise AssertionError("unreachable")


def conversation_of(chain: Sequence[Mapping[str, Any]], records: Iterable[Mapping[str, Any]]) -> list[Message]:
    """Return the messages of a chain that are sent; `records` say what is sent in the place of long results."""
    return _messages(since_boundary(chain), _replacements(records))


class _Begin(NamedTuple):
    """What to read, and the file's size. It suffices where nothing before it is read whatever is found."""

    spans: Sequence[Span]
    size: int
    suffices: bool
    told: Sequence[str] = ()


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
            told = spans_of(file, size, guard)
            found = (last_boundary(file, span.begin, span.end) for span in reversed(told.spans))
            boundary = next((offset for offset in found if offset is not None), None)
    except OSError as error:
        raise unreadable(path, error) from error
    passed = [_passed_over(path, told)] if told.passed else []
    if boundary is not None:
        since = [span.since(boundary) for span in told.spans if span.end > boundary]
        yield _Begin(since, size, suffices=False, told=passed)
    cut = [_cut(path, told, size)] if told.begin else []
    yield _Begin(told.spans, size, suffices=True, told=[*cut, *passed])


def _cut(path: Path, told: Spans, size: int) -> str:
    read = size - told.begin - told.passed
    return f"{path.name} has {size / 1e6:,.0f} MB: the conversation goes on from its last {read / 1e6:,.0f} MB"


def _passed_over(path: Path, told: Spans) -> str:
    return f"{path.name}: {told.passed / 1e6:,.0f} MB of it are no records of a session, and were passed over"


def _read(path: Path, spans: Sequence[Span], agent: str | None) -> _Part:
    records: list[Mapping[str, Any]] = []
    links = Links(agent=agent)
    damaged: list[str] = []
    begin = spans[0].begin if spans else 0
    numbered = begin == 0 and len(spans) == 1
    for line in (line for span in spans for line in lines_in(path, span.begin, _heeded, end=span.end)):
        if line.record is None:
            damaged.append(f"line {line.number}" if numbered else f"the line at byte {line.offset:,}")
            continue
        record = {key: value for key, value in line.record.items() if key not in UNSENT}
        records.append(record)
        links.add(record)
    return _Part(begin, records, links, with_siblings(links, links.chain(), records), damaged)


def _heeded(raw: bytes) -> bool:
    return kind_of(raw) in HEEDED or not raw.endswith(b"\n")


def _history(path: Path, part: _Part, begin: _Begin) -> History:
    records = part.records
    if not any(map(is_message, records)):
        raise SessionError(f"The session file {path} holds no conversation: none of its lines is a message.")
    said = [whole(records[position], path) for position in part.chain]
    last = said[-1] if said else {}
    cwd = last.get("cwd")
    warnings = [f"{path.name}: {place} is damaged and was passed over" for place in part.damaged[:MOST_NAMED]]
    if more := len(part.damaged) - len(warnings):
        warnings.append(f"{path.name}: {more:,} more lines are damaged and were passed over")
    return History(
        session_id=str(last.get("sessionId", path.stem)),
        messages=repaired(conversation_of(sent_on(said, records), records)),
        leaf=last.get("uuid"),
        cwd=Path(cwd) if isinstance(cwd, str) else None,
        warnings=(*begin.told, *warnings),
        path=path,
        states={str(record["type"]): _facts(record) for record in records if record.get("type") in STATES},
        queued=_queued(records),
        answered_by=next((str(r["message"].get("model")) for r in reversed(said) if r["type"] == "assistant"), None),
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
