"""Server-sent events out of bytes that are cut anywhere."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

_BOM: Final = b"\xef\xbb\xbf"


class Reader:
    """Feed it bytes; it yields (event, data) as soon as an event's blank line has arrived.

    What a stream breaks off in is never yielded, as the standard has it. A character that is not UTF-8 becomes U+FFFD.
    """

    __slots__ = ("_begun", "_data", "_event", "_tail", "_was_cr")

    def __init__(self) -> None:
        self._tail: list[bytes] = []
        self._data: list[bytes] = []
        self._event = b""
        self._was_cr = False
        self._begun = False

    def feed(self, chunk: bytes) -> Iterator[tuple[str, str]]:
        """Take the next bytes; exhaust the iterator before the next call."""
        if self._was_cr and chunk:
            # The line ended with the last chunk's CR: an LF here belongs to it.
            chunk = chunk.removeprefix(b"\n")
            self._was_cr = False
        if b"\r" in chunk:
            self._was_cr = chunk.endswith(b"\r")
            chunk = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        if b"\n" not in chunk:
            # Only the new bytes are looked at, so that a long line in small pieces costs no more than in one.
            self._tail.append(chunk)
            return
        *lines, rest = chunk.split(b"\n")
        if self._tail:
            self._tail.append(lines[0])
            lines[0] = b"".join(self._tail)
        self._tail = [rest] if rest else []
        if not self._begun:
            self._begun = True
            lines[0] = lines[0].removeprefix(_BOM)
        for line in lines:
            if line:
                self._field(line)
            elif self._data:
                data = self._data[0] if len(self._data) == 1 else b"\n".join(self._data)
                event = self._event.decode("utf-8", "replace") or "message"
                self._data, self._event = [], b""
                yield event, data.decode("utf-8", "replace")
            else:
                self._event = b""

    def _field(self, line: bytes) -> None:
        name, _, value = line.partition(b":")
        if name == b"data":
            self._data.append(value[1:] if value.startswith(b" ") else value)
        elif name == b"event":
            self._event = value[1:] if value.startswith(b" ") else value
