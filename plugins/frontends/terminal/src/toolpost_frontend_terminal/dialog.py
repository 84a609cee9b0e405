"""A question with its choices, as a state that keys change. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from toolpost import Reply

from .asking import STOP, Choice
from .clean import one_line
from .fit import wrapped
from .live import Line

Answer = tuple[str, Reply]
_DIM = "ansibrightblack"
_LABEL = 7
"""Columns in front of a label."""


@dataclass(frozen=True)
class Dialog:
    """Which choice is selected, or that the person writes why not; `begun` is what they began with.

    Who types a text and Enter did not mean to allow anything: the text is what to do instead. Where none can be given,
    the person is `astray`, and Enter counts again once they have chosen with an arrow.
    """

    choices: tuple[Choice, ...]
    selected: int = 0
    writing: bool = False
    begun: str = ""
    astray: bool = False

    def move(self, by: int) -> Dialog:
        """Select another choice, round the ends."""
        return replace(self, selected=(self.selected + by) % len(self.choices), astray=False)

    def pick(self, index: int | None = None) -> Dialog | Answer:
        """Take a choice, the selected one unless told; one that does not exist changes nothing."""
        index = self.selected if index is None else index
        if self.astray or not 0 <= index < len(self.choices):
            return self
        choice = self.choices[index]
        if choice.reply is None:
            return replace(self, selected=index, writing=True, begun="")
        return choice.label, choice.reply

    def letter(self, letter: str) -> Dialog | Answer:
        """`y` is the first choice, `n` the last; a digit is its choice, and any other letter begins a text."""
        if letter.isdecimal():
            return self.pick(int(letter) - 1)
        named = {"y": 0, "n": len(self.choices) - 1}.get(letter.lower())
        if named is not None:
            return self.pick(named)
        return self._begin(letter) if letter.isprintable() and not letter.isspace() else self

    def paste(self, text: str) -> Dialog:
        """A text that is pasted is one that is typed, whatever it begins with."""
        words = " ".join(text.split())
        return self._begin(words) if words else self

    def erase(self) -> Dialog:
        """There is nothing to take back."""
        return self

    def write(self, text: str) -> Answer:
        """Refuse, and say this to the model."""
        text = text.strip()
        return (f"No: {one_line(text)}" if text else "No"), Reply(allow=False, feedback=text)

    def back(self) -> Dialog | Answer:
        """Leave the writing, or stop the turn."""
        return replace(self, writing=False, begun="") if self.writing else self.stop()

    def stop(self) -> Answer:
        """Refuse, and stop the turn."""
        return "No, stop", STOP

    def lines(self, columns: int, rows: int) -> Sequence[Line]:
        """Return what to draw in a terminal of this size: a label shows what it would grant, so it is not cut to a row."""
        shown: list[Line] = []
        for index, choice in enumerate(self.choices):
            here = index == self.selected
            style = "bold ansicyan" if here else ""
            text = f"  {'❯' if here else ' '} {index + 1}. {choice.label}"
            shown += [[(style, row)] for row in wrapped(text, columns, max(1, rows // 3), _LABEL)]
        in_a_turn = any(choice.reply is None for choice in self.choices)
        stay = "Esc: no, and stop the turn" if in_a_turn else "Esc: not now"
        hint = "Enter sends it to the model, Esc goes back" if self.writing else stay
        if self.astray:
            hint = f"↑ ↓ and Enter answer it; {stay}"
        return [*shown, [(_DIM, f"    {hint}")]]

    def _begin(self, text: str) -> Dialog:
        free = [index for index, choice in enumerate(self.choices) if choice.reply is None]
        if not free:
            return replace(self, astray=True)
        return replace(self, selected=free[0], writing=True, begun=text)
