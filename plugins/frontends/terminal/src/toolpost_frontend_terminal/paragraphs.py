"""Cuts a streamed answer into pieces that can be drawn for good while the rest still comes."""

from __future__ import annotations

import re
from collections.abc import Iterator

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")


class Paragraphs:
    """Takes Markdown as it streams and gives back each part that later text can't change any more.

    A part ends at a blank line outside a fence, where the next line is not indented (it would belong to a list).
    """

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._fence = ""
        self._partial = ""

    @property
    def tail(self) -> str:
        """What is not given back yet."""
        return "".join([*self._lines, self._partial])

    def feed(self, text: str) -> Iterator[str]:
        """Take more text; yield the parts that it completes."""
        *lines, self._partial = (self._partial + text).split("\n")
        for line in lines:
            if self._ends_before(line):
                yield self._take()
            self._lines.append(line + "\n")
            self._watch_fence(line)
        if self._partial and self._ends_before(self._partial):
            yield self._take()

    def finish(self) -> str:
        """Give back the rest."""
        rest, self._partial = self.tail, ""
        self._lines, self._fence = [], ""
        return rest

    def _ends_before(self, line: str) -> bool:
        blank_above = bool(self._lines) and not self._lines[-1].strip()
        return blank_above and not self._fence and bool(line) and not line[0].isspace()

    def _take(self) -> str:
        part, self._lines = "".join(self._lines), []
        return part

    def _watch_fence(self, line: str) -> None:
        match = _FENCE.match(line)
        if match is None:
            return
        mark = match[1]
        if not self._fence:
            self._fence = mark
        elif mark.startswith(self._fence) and not line.strip().strip(mark[0]):
            self._fence = ""
