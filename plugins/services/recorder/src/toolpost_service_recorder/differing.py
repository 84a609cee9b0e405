"""How what is asked differs from what was recorded, for a person."""

from __future__ import annotations

import difflib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from .reading import Entry
from .requests import parts

LONGEST: Final = 120
"""Lines of a difference that are shown."""


def unlike(asked: Mapping[str, Any], expected: Entry | None, recorded: Sequence[Entry]) -> str:
    """Say how a request differs from what the recording has; `expected` is the one whose turn it is."""
    near = _nearest(asked, recorded)
    if near is None:
        return "The session asks the model, and the recording has no request."
    order = (
        "The recording has no more requests."
        if expected is None
        else "It is the next in the recording."
        if expected["number"] == near["number"]
        else f"Out of order: the next in the recording is request {expected['number']}."
    )
    how = _request_difference(near["request"], asked) or "It is the same, but at another place."
    head = "The session asks the model something else than the recording has."
    return f"{head}\nThe nearest recorded request is {near['number']} of {len(recorded)}. {order}\n{how}"


def difference(recorded: Any, came: Any) -> str:
    """Return how a value differs from a recorded one."""
    return _cut(_diff(_text(recorded), _text(came)))


def _nearest(request: Mapping[str, Any], recorded: Sequence[Entry]) -> Entry | None:
    """Return the recorded request that has most lines in common with one; the first of several."""
    lines = _lines(request)
    return max(recorded, key=lambda entry: (_common(lines, _lines(entry["request"])), -entry["number"]), default=None)


def _request_difference(recorded: Mapping[str, Any], asked: Mapping[str, Any]) -> str:
    """Return how a request differs from a recorded one, part by part; empty where it does not."""
    before, after = parts(recorded), parts(asked)
    told = [
        f"The {name} {_how(before.get(name), after.get(name))}:\n{_diff(before.get(name, ''), after.get(name, ''))}"
        for name in dict.fromkeys((*before, *after))
        if before.get(name) != after.get(name)
    ]
    return _cut("\n".join(told))


def _how(before: str | None, after: str | None) -> str:
    return "is new" if before is None else "is gone" if after is None else "differs"


def _diff(before: str, after: str) -> str:
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), "recorded", "asked now", lineterm="")
    return "\n".join(lines)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2, sort_keys=True)


def _cut(text: str) -> str:
    lines = text.splitlines()
    more = len(lines) - LONGEST
    return text if more <= 0 else "\n".join([*lines[:LONGEST], f"… {more} more lines differ"])


def _lines(request: Mapping[str, Any]) -> Counter[str]:
    return Counter(_all_lines(request))


def _all_lines(request: Mapping[str, Any]) -> Iterator[str]:
    for name, text in parts(request).items():
        yield from (f"{name}: {line}" for line in text.splitlines())


def _common(one: Counter[str], other: Counter[str]) -> int:
    return (one & other).total() * 2 - other.total()
