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
    """Which entry is selected, and the first that is shown; of a long list `words` leave those that have them."""

    entries: tuple[Entry, ...]
    selected: int = 0
    first: int = 0
    words: str = ""
    writing: ClassVar[bool] = False

    def move(self, by: int) -> Menu:
        """Select another entry, round the ends; what is shown moves along."""
        found = self._found
        if not found:
            return self
        selected = (self.selected + by) % len(found)
        first = min(self.first, selected)
        return replace(self, selected=selected, first=max(first, selected - MOST_ROWS + 1))

    def pick(self) -> Menu | Picked:
        """Take the selected entry."""
        found = self._found
        return Picked(found[self.selected]) if found else self

    def letter(self, letter: str) -> Menu | Picked:
        """A digit takes its entry, of those that are shown; of a long list any other letter narrows it down."""
        if letter.isdecimal() and not self.words:
            found = self._found[self.first : self.first + MOST_ROWS]
            return Picked(found[int(letter) - 1]) if 1 <= int(letter) <= len(found) else self
        is_long = len(self.entries) > MOST_ROWS
        return self._search(self.words + letter) if is_long and letter.isprintable() else self

    def paste(self, text: str) -> Menu:
        """Narrow a long list down to what has these words."""
        is_long = len(self.entries) > MOST_ROWS
        return self._search(" ".join(f"{self.words}{text}".split())) if is_long else self

    def erase(self) -> Menu:
        """Take back the last letter that narrowed the list down."""
        return self._search(self.words[:-1]) if self.words else self

    def write(self, text: str) -> Menu:
        """There is nothing to be written."""
        del text
        return self

    def back(self) -> Menu | Picked:
        """Show the whole list again, or take none."""
        return self._search("") if self.words else Picked(None)

    def stop(self) -> Picked:
        """Take none."""
        return Picked(None)

    def lines(self, columns: int = 0, rows: int = 0) -> Sequence[Line]:
        """Return what to draw, an entry a row; the size of the terminal makes no difference."""
        del columns, rows
        found = self._found
        end = min(self.first + MOST_ROWS, len(found))
        shown = [self._line(place, self.entries[found[place]]) for place in range(self.first, end)]
        above, below = self.first, len(found) - end
        hidden = [f"{count} {where}" for count, where in ((above, "above"), (below, "below")) if count]
        search = [f"Search: {self.words}"] if self.words else []
        if self.words:
            keys = "Enter takes it, Esc shows all" if found else "nothing has that; Esc shows all"
        else:
            narrow = ", letters search" if len(self.entries) > MOST_ROWS else ""
            keys = f"Enter takes it{narrow}, Esc leaves everything as it is"
        return [*shown, [(_DIM, f"    {' · '.join([*search, keys, *hidden])}")]]

    @property
    def _found(self) -> Sequence[int]:
        words = self.words.casefold().split()
        told = (f"{entry.label} {entry.note}".casefold() for entry in self.entries)
        return [index for index, text in enumerate(told) if all(word in text for word in words)]

    def _search(self, words: str) -> Menu:
        return replace(self, words=words, selected=0, first=0)

    def _line(self, place: int, entry: Entry) -> Line:
        here = place == self.selected
        style = "bold ansicyan" if here else ""
        label = (style, f"  {'❯' if here else ' '} {place - self.first + 1}. {entry.label}")
        return [label, (_DIM, f"  {entry.note}")] if entry.note else [label]
