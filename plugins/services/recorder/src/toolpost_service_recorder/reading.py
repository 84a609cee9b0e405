"""A recording as it is read: its header, what is read at any time, and the entries that have their turn."""

from __future__ import annotations

import json
from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeAlias

from toolpost import SessionError

from .requests import lengthened
from .values import decoded
from .writing import FORM, FORMS

Entry: TypeAlias = Mapping[str, Any]
Key: TypeAlias = tuple[object, ...]
SHOWN = ("told", "did", "inbox", "expect", "expected")
"""Entries that happen of themselves when their turn comes."""
ANSWERS: Final = ("piece", "broke", "done")
"""Entries of what comes of an answer."""
BEGIN_TURNS: Final = ("submit", "go_on", "compact")
"""What is done with a session that begins something else."""
OF_THEMSELVES: Final = frozenset({"config_change", "file_changed", "instructions_loaded", "notification"})
"""Events that come of files and of time, which are not played: what came of them is in other entries."""


@dataclass(kw_only=True)
class Tape:
    """The entries of a file, sorted by how they are played.

    `turns` are those that have an order, each with what had been read `after` which it came. `nested` are those of calls
    and listeners, by their place. `deeds` counts what was done with the session, `whole` says that the recording came to
    its end.
    """

    path: Path
    header: Mapping[str, Any]
    turns: list[Entry] = field(default_factory=list)
    nested: dict[str, deque[Entry]] = field(default_factory=lambda: defaultdict(deque))
    rows: dict[str, deque[Any]] = field(default_factory=lambda: defaultdict(deque))
    facts: dict[str, Any] = field(default_factory=dict)
    gathered: dict[tuple[str, str], deque[list[Any]]] = field(default_factory=lambda: defaultdict(deque))
    deeds: int = 0
    heard: set[str] = field(default_factory=set)
    whole: bool = False
    _read: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path, *, real_tools: bool = False) -> Tape:
        """Read a file; a line that was cut off at its end is left out. Raises SessionError.

        With `real_tools` the answers of people have a turn too, as they may end one.
        """
        lines = _lines(path)
        header = next(lines, {})
        if header.get("recording") not in FORMS:
            wanted = header.get("recording")
            what = "is no recording of a session" if wanted is None else f"has the form {wanted}, not {FORM}"
            raise SessionError(f"{path} {what}. `toolpost record FILE PROMPT` makes one.")
        tape = cls(path=path, header=header)
        for entry in map(_as_done, _with_requests(lines)):
            if not (real_tools and _is_spent_again(entry)):
                tape._sort(entry, SHOWN if not real_tools else (*SHOWN, "reply"))
        tape.turns = _behind_what_came(tape.turns)
        return tape

    def requests(self) -> list[Entry]:
        """Return the requests that have a turn."""
        return [entry for entry in self.turns if entry["e"] == "request"]

    def _sort(self, entry: Entry, have_turns: Collection[str]) -> None:
        match entry["e"]:
            case "read":
                for row, values in entry["rows"].items():
                    self.rows[row].extend(values)
                self._read = {row: len(values) for row, values in self.rows.items()}
            case "fact":
                self.facts[entry["name"]] = decoded(entry["value"])
            case "gathered":
                self.gathered[entry.get("in", ""), entry["what"]].append([decoded(one) for one in entry["added"]])
            case "end":
                self.whole = True
            case _:
                if entry["e"] == "event":
                    self.heard.add(entry["name"])
                self.deeds += entry["e"] == "did"
                if self._has_turn(entry, have_turns):
                    self.turns.append({**entry, "after": self._read})
                else:
                    self.nested[entry.get("in", "")].append(entry)

    def _has_turn(self, entry: Entry, have_turns: Collection[str]) -> bool:
        """Whether an entry is waited for. Of what is within something else some are, of what files and time bring none."""
        if entry.get("in"):
            return entry["e"] in have_turns
        return entry["e"] != "reply" and entry.get("name") not in OF_THEMSELVES


def _behind_what_came(entries: Sequence[Entry]) -> list[Entry]:
    """Return the entries with each end of a turn behind what still came of answers before it took effect.

    An answer goes on for some rounds of the event loop, and what came of it in those was shown. Where it is played, the
    end of the turn is certain to be heard before anything else comes, and nobody would ask for the rest any more.
    """
    ordered: list[Entry] = []
    place = 0
    while place < len(entries):
        last = _last_that_came(entries, place) if ends_a_turn(entries[place]) else place
        segment = entries[place : last + 1]
        late = [entry for entry in segment if entry["e"] == "did" and entry["what"] != "tell"] if last > place else []
        ordered += [entry for entry in segment if entry not in late]
        ordered += [{**entry, "after": entries[last]["after"]} for entry in late]
        place = last + 1
    return ordered


def _last_that_came(entries: Sequence[Entry], end: int) -> int:
    """Return the place of the last of an answer that came right behind the end of a turn, or that of the end."""
    last = end
    for place, entry in enumerate(entries[end + 1 :], end + 1):
        if entry["e"] in ANSWERS:
            last = place
        elif entry["e"] not in SHOWN or entry.get("what") in BEGIN_TURNS:
            break
    return last


def ends_a_turn(entry: Entry) -> bool:
    """Whether it is something done with the session that ends what runs."""
    if entry["e"] != "did":
        return False
    return entry["what"] in ("interrupt", "leave") or entry["given"].get("priority") == "now"


def _as_done(entry: Entry) -> Entry:
    """Return an entry of the first form as it is now: what was done with the session had entries of two kinds."""
    match entry["e"]:
        case "prompt":
            return {"e": "did", "what": "submit", "given": {"prompt": entry["prompt"], "message_id": entry["id"]}}
        case "interrupt":
            return {"e": "did", "what": "interrupt", "given": {"reason": entry["reason"]}}
    return entry


def _is_spent_again(entry: Entry) -> bool:
    """Whether it is a cost within a call: where that runs again, so do its requests. Listeners do not."""
    place = str(entry.get("in", "")).rpartition("/")[2]
    return entry.get("what") == "spent" and not place.startswith(("event ", "gather "))


def key_of(entry: Entry) -> Key:
    """Return what asks for an entry: the same key is asked for when the session comes to it again."""
    match entry["e"]:
        case "request" | "count" | "checked" as kind:
            return (kind,)
        case "piece" | "broke" | "done":
            return ("answer", entry["answer"])
        case "event":
            return ("event", entry["name"], entry["value"].get("tool_use_id", ""))
        case "call":
            return ("call", entry["id"])
        case "reply":
            return ("reply", entry.get("in", ""))
        case "did":
            return ("did", entry["what"])
        case kind:
            return (str(kind),)


def named(key: Key) -> str:
    """Return a key in words."""
    match key:
        case ("request",):
            return "a request to the model"
        case ("answer", number):
            return f"the answer to request {number}"
        case ("event", name, ""):
            return f"the event {name}"
        case ("event", name, call):
            return f"the event {name} of the call {call}"
        case ("call", call):
            return f"the end of the call {call}"
        case ("reply", place):
            return f"a person's answer in the call {place}"
        case ("did", what):
            return f"what is done with the session then ({what})"
        case ("count",):
            return "a count of tokens"
        case ("checked",):
            return "what the service says of a model"
    return " ".join(map(str, key))


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise SessionError(f"The recording {path} can't be read: {error.strerror or error}.") from error
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except ValueError as error:
            if data.endswith(line):
                return  # it was cut off as it was written
            raise SessionError(f"{path}, line {number}, is no JSON: {error}.") from error
        if not isinstance(value, dict):
            raise SessionError(f"{path}, line {number}, is no JSON object.")
        yield value


def _with_requests(entries: Iterable[dict[str, Any]]) -> Iterator[Entry]:
    """Yield the entries, each request in full."""
    last: dict[str, Any] = {}
    for entry in entries:
        if entry.get("e") == "request":
            last = lengthened(entry["request"], last)
            yield {**entry, "request": last}
        else:
            yield entry
