"""What the model gets to see of a command's output: text, without what only means something to a terminal."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from typing import Final

MOST_CHARS: Final = 30_000
"""Output up to here is given whole (compat.md section 8)."""

_HEAD = 10_000
_TAIL = 10_000
ENDS: Final = 4 * max(_HEAD, _TAIL)
"""Bytes of each end that are enough for what is shown of it: a character has up to four."""

_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[PX^_][^\x1b]*\x1b\\|[ -/]*[0-~])")
_SILENT = re.compile(r"[\x07\x0e\x0f\x1b]")
_CONTROL = re.compile(r"[\x00-\x06\x0b\x0c\x10-\x1f\x7f]")
_BACKSPACE = re.compile(r"[^\n\x08]\x08")
_MOST_REDRAWS = 200


@dataclass(frozen=True)
class Shown:
    """The text for the model; `cut` says that it is not all of it."""

    text: str
    cut: bool = False


def show(data: bytes) -> Shown:
    """Return all of an output, or its two ends."""
    text = clean(data)
    return Shown(text) if len(text) <= MOST_CHARS else _both_ends(text, text, len(data))


def show_ends(head: bytes, tail: bytes, size: int) -> Shown:
    """Return the two ends of an output of `size` bytes that is not in memory."""
    whole_head = codecs.getincrementaldecoder("utf-8")("replace").decode(head).encode()
    whole_tail = tail.lstrip(bytes(range(0x80, 0xC0))) if tail[:3] else tail
    return _both_ends(clean(whole_head), clean(whole_tail), size)


def clean(data: bytes) -> str:
    """Decode output: escape sequences go, a line that was redrawn keeps its last state, other bytes become visible."""
    text = data.decode("utf-8", errors="replace")
    if "\x1b" in text:
        text = _ESCAPE.sub("", text)
    if "\x08" in text:
        for _ in range(_MOST_REDRAWS):
            text, count = _BACKSPACE.subn("", text)
            if not count:
                break
        text = text.replace("\x08", "")
    if "\r" in text:
        text = "\n".join(_last_state(line) for line in text.split("\n"))
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", _SILENT.sub("", text))


def _last_state(line: str) -> str:
    states = [state for state in line.rstrip("\r").split("\r") if state]
    return states[-1] if states else ""


def _both_ends(head: str, tail: str, size: int) -> Shown:
    """Keep both ends, cut at lines where there are any near the cut."""
    first, last = head[:_HEAD], tail[-_TAIL:]
    if (end := first.rfind("\n", _HEAD // 2)) >= 0:
        first = first[: end + 1]
    if 0 <= (start := last.find("\n", 0, _TAIL // 2)) < len(last) - 1:
        last = last[start + 1 :]
    return Shown(f"{first.rstrip()}\n\n[… the middle of {size:,} bytes is left out …]\n\n{last}", cut=True)
