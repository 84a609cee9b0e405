"""Reading a cassette: every mistake is told with file and line before anything is played."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from toolpost import ProviderError

from .answers import Answer, Call, Say, Step
from .conversation import check, compiled
from .event_json import event_from_json

VERSION: Final = 1
HEADER: Final = {"cassette": VERSION}
_KEYS: Final = ("name", "when", "say", "call", "input", "events", "next")


@dataclass(frozen=True)
class Cassette:
    """The answers in the order of their lines, and where the named ones are."""

    path: Path
    answers: Sequence[Answer]
    names: Mapping[str, int]


def read(path: Path) -> Cassette:
    """Read a cassette. Raises ProviderError that names file and line."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ProviderError(f"The cassette {str(path)!r} can't be read: {error}.", kind="invalid_request") from error
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    problem = header_problem(lines[0][1] if lines else "")
    if problem is not None:
        raise _wrong(path, 1, problem)
    answers = [_answer(path, number, line) for number, line in lines[1:]]
    names: dict[str, int] = {}
    for index, answer in enumerate(answers):
        if answer.name is not None and names.setdefault(answer.name, index) != index:
            raise _wrong(
                path, answer.line, f"the name {answer.name!r} is taken by line {answers[names[answer.name]].line}"
            )
    for answer in answers:
        if answer.next is not None and answer.next not in names:
            known = ", ".join(map(repr, names)) or "none"
            raise _wrong(
                path, answer.line, f"`next` is {answer.next!r}, but no answer has that name; there are: {known}"
            )
    return Cassette(path, answers, names)


def header_problem(line: str) -> str | None:
    """Say why a first line is not that of a cassette that can be played; None if it is."""
    try:
        version = json.loads(line)["cassette"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return f"this is no cassette: its first line must be {json.dumps(HEADER)}"
    if version != VERSION:
        return f"the cassette has version {version!r}, and this plugin plays version {VERSION}"
    return None


def _answer(path: Path, number: int, line: str) -> Answer:
    try:
        fields = json.loads(line)
        if not isinstance(fields, dict):
            raise ValueError("an answer is a JSON object")
        _only(fields, _KEYS)
        return Answer(
            path=path,
            line=number,
            parts=_parts(fields),
            when=_when(fields),
            name=_text(fields, "name"),
            next=_text(fields, "next"),
        )
    except (ValueError, RecursionError) as error:
        raise _wrong(path, number, str(error)) from None


def _parts(fields: Mapping[str, Any]) -> list[Say | Call | Step]:
    """Return the answer's own `say` and `call`, then its `events`."""
    parts = _short(fields)
    events = fields.get("events", [])
    if not isinstance(events, list) or not all(isinstance(event, dict) for event in events):
        raise ValueError("`events` is a list of objects")
    for event in events:
        if "event" in event:
            parts.append(event_from_json(event))
            continue
        _only(event, ("say", "call", "input"))
        parts += _short(event)
    if not parts and not events:
        raise ValueError("an answer has `say`, `call` or `events`")
    return parts


def _short(fields: Mapping[str, Any]) -> list[Say | Call | Step]:
    parts: list[Say | Call | Step] = []
    if (text := _text(fields, "say")) is not None:
        parts.append(Say(text))
    input = fields.get("input", {})
    if (name := _text(fields, "call")) is not None:
        if not isinstance(input, dict):
            raise ValueError(f"`input` is an object, not {input!r:.80}")
        parts.append(Call(name, input))
    elif "input" in fields:
        raise ValueError("`input` belongs to a `call`, which names the tool")
    check([text, input])
    return parts


def _when(fields: Mapping[str, Any]) -> Any:
    if "when" not in fields:
        return None
    when = fields["when"]
    if not isinstance(when, dict) or list(when) != ["last_result_matches"]:
        raise ValueError('`when` is {"last_result_matches": REGEX}')
    return compiled(when["last_result_matches"])


def _text(fields: Mapping[str, Any], key: str) -> str | None:
    value = fields.get(key)
    if key in fields and not isinstance(value, str):
        raise ValueError(f"`{key}` is a text, not {value!r:.80}")
    return value


def _only(fields: Mapping[str, Any], allowed: Sequence[str]) -> None:
    if unknown := [key for key in fields if key not in allowed]:
        raise ValueError(f"{unknown[0]!r} is unknown here; allowed are {', '.join(allowed)}")


def _wrong(path: Path, line: int, what: str) -> ProviderError:
    return ProviderError(f"{path}:{line}: {what}.", kind="invalid_request")
