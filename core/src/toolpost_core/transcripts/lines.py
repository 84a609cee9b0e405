"""Records as lines, and lines into a file."""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

LONG: Final = 200_000
"""Bytes of a line over which its message goes into a file of its own; what reads a transcript holds a line at a time."""


def line_of(record: Mapping[str, Any]) -> bytes:
    """Return a record as a line; data of a plugin that is no JSON is left out."""
    try:
        text = _json(record)
    except (TypeError, ValueError, RecursionError):
        text = _json({key: value for key, value in record.items() if key != "toolUseResult"})
    try:
        return text.encode()
    except UnicodeEncodeError:  # a lone surrogate
        return _json(json.loads(text), ensure_ascii=True).encode()


def write_all(fd: int, data: bytes) -> None:
    """Write everything or, as far as that is possible, nothing: a record that was cut off is taken back."""
    start = os.lseek(fd, 0, os.SEEK_END)
    view = memoryview(data)
    try:
        while view:
            view = view[os.write(fd, view) :]
    except OSError:
        os.ftruncate(fd, start)
        raise


def now(seconds: float | None = None) -> str:
    """Return this moment in ISO 8601, or the one that is given in seconds since 1970."""
    seconds = time.time() if seconds is None else seconds
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{int(seconds * 1000) % 1000:03d}Z"


def _json(value: object, *, ensure_ascii: bool = False) -> str:
    return json.dumps(value, ensure_ascii=ensure_ascii, separators=(",", ":"), default=str) + "\n"
