"""A recording as it is read: its header, what is read at any time, and the entries that have their turn."""

from __future__ import annotations

import json
from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from toolpost import SessionError

from .requests import lengthened
from .values import decoded
from .writing import FORM

Entry: TypeAlias = Mapping[str, Any]
Key: TypeAlias = tuple[object, ...]
SHOWN = ("told", "interrupt", "inbox", "expect", "expected")
"""Entries that happen of themselves when their turn comes."""


@dataclass(kw_only=True)
class Tape:
    """The entries of a file, sorted by how they are played.

    `turns` are those that have an order. `nested` are those of calls and listeners, by their place. `whole` says that the
    recording came to its end.
    """

    path: Path
    header: Mapping[str, Any]
    turns: list[Entry] = field(default_factory=list)
    nested: dict[str, deque[Entry]] = field(default_factory=lambda: defaultdict(deque))
    rows: dict[str, deque[Any]] = field(default_factory=lambda: defaultdict(deque))
    facts: dict[str, Any] = field(default_factory=dict)
    gathered: dict[str, deque[list[Any]]] = field(default_factory=lambda: defaultdict(deque))
    prompts: list[tuple[Any, str | None]] = field(default_factory=list)
    heard: set[str] = field(default_factory=set)
    whole: bool = False

    @classmethod
    def read(cls, path: Path, *, real_tools: bool = False) -> Tape:
        """Read a file; a line that was cut off at its end is left out. Raises SessionError.

        With `real_tools` the answers of people have a turn too, as they may end one.
        """
        lines = _lines(path)
        header = next(lines, {})
        if header.get("recording") != FORM:
            wanted = header.get("recording")
            what = "is no recording of a session" if wanted is None else f"has the form {wanted}, not {FORM}"
            raise SessionError(f"{path} {what}. `toolpost record FILE PROMPT` makes one.")
        tape = cls(path=path, header=header)
        for entry in _with_requests(lines):
            tape._sort(entry, SHOWN if not real_tools else (*SHOWN, "reply"))
        return tape

    def requests(self) -> list[Entry]:
        """Return the requests that have a turn."""
        return [entry for entry in self.turns if entry["e"] == "request"]

    def _sort(self, entry: Entry, have_turns: Collection[str]) -> None:
        match entry["e"]:
            case "read":
                for row, values in entry["rows"].items():
                    self.rows[row].extend(values)
            case "fact":
                self.facts[entry["name"]] = decoded(entry["value"])
            case "gathered":
                self.gathered[entry["what"]].append([decoded(one) for one in entry["added"]])
            case "prompt":
                self.prompts.append((entry["prompt"], entry["id"]))
            case "end":
                self.whole = True
            case _:
                if entry["e"] == "event":
                    self.heard.add(entry["name"])
                if entry.get("in") and entry["e"] not in have_turns:
                    self.nested[entry["in"]].append(entry)
                else:
                    self.turns.append(entry)


def key_of(entry: Entry) -> Key:
    """Return what asks for an entry: the same key is asked for when the session comes to it again."""
    match entry["e"]:
        case "request" | "count" as kind:
            return (kind,)
        case "piece" | "broke" | "done":
            return ("answer", entry["answer"])
        case "event":
            return ("event", entry["name"], entry["value"].get("tool_use_id", ""))
        case "call":
            return ("call", entry["id"])
        case "reply":
            return ("reply", entry.get("in", ""))
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
        case ("count",):
            return "a count of tokens"
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
