"""A list of which one entry is picked, as a state that keys change. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Final, NamedTuple

from .live import Line

MOST_ROWS: Final = 9
"""Entries that are shown at once: each has a digit."""
_DIM = "ansibrightblack"


class Entry(NamedTuple):
    """One entry, and what is told of it beside its label."""

    label: str
    note: str = ""


@dataclass(frozen=True)
class Picked:
    """Which entry was picked; None for none."""

    index: int | None


@dataclass(frozen=True)
class Menu:
    """Which entry is selected, and the first that is shown."""

    entries: tuple[Entry, ...]
    selected: int = 0
    first: int = 0
    writing: ClassVar[bool] = False

    def move(self, by: int) -> Menu:
        """Select another entry, round the ends; what is shown moves along."""
        selected = (self.selected + by) % len(self.entries)
        first = min(self.first, selected)
        return replace(self, selected=selected, first=max(first, selected - MOST_ROWS + 1))

    def pick(self) -> Picked:
        """Take the selected entry."""
        return Picked(self.selected)

    def letter(self, letter: str) -> Menu | Picked:
        """A digit takes its entry, of those that are shown."""
        index = self.first + int(letter) - 1 if letter.isdecimal() else -1
        return Picked(index) if self.first <= index < self._end else self

    def write(self, text: str) -> Menu:
        """There is nothing to be written."""
        del text
        return self

    def back(self) -> Picked:
        """Take none."""
        return Picked(None)

    def stop(self) -> Picked:
        """Take none."""
        return Picked(None)

    def lines(self) -> Sequence[Line]:
        """Return what to draw."""
        shown = [self._line(index) for index in range(self.first, self._end)]
        above, below = self.first, len(self.entries) - self._end
        hidden = [f"{count} {where}" for count, where in ((above, "above"), (below, "below")) if count]
        hint = " · ".join(["Enter takes it, Esc leaves everything as it is", *hidden])
        return [*shown, [(_DIM, f"    {hint}")]]

    @property
    def _end(self) -> int:
        return min(self.first + MOST_ROWS, len(self.entries))

    def _line(self, index: int) -> Line:
        entry, here = self.entries[index], index == self.selected
        style = "bold ansicyan" if here else ""
        label = (style, f"  {'❯' if here else ' '} {index - self.first + 1}. {entry.label}")
        return [label, (_DIM, f"  {entry.note}")] if entry.note else [label]
