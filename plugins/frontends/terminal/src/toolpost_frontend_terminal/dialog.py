"""A question with its choices, as a state that keys change. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from toolpost import Reply

from .asking import STOP, Choice
from .clean import one_line
from .live import Line

Answer = tuple[str, Reply]
_DIM = "ansibrightblack"


@dataclass(frozen=True)
class Dialog:
    """Which choice is selected, or that the person writes why not."""

    choices: tuple[Choice, ...]
    selected: int = 0
    writing: bool = False

    def move(self, by: int) -> Dialog:
        """Select another choice, round the ends."""
        return replace(self, selected=(self.selected + by) % len(self.choices))

    def pick(self, index: int | None = None) -> Dialog | Answer:
        """Take a choice, the selected one unless told; one that does not exist changes nothing."""
        index = self.selected if index is None else index
        if not 0 <= index < len(self.choices):
            return self
        choice = self.choices[index]
        if choice.reply is None:
            return replace(self, selected=index, writing=True)
        return choice.label, choice.reply

    def letter(self, letter: str) -> Dialog | Answer:
        """`y` is the first choice, `n` the last; a digit is its choice."""
        if letter.isdecimal():
            return self.pick(int(letter) - 1)
        return self.pick({"y": 0, "n": len(self.choices) - 1}.get(letter.lower(), -1))

    def write(self, text: str) -> Answer:
        """Refuse, and say this to the model."""
        text = text.strip()
        return (f"No: {one_line(text)}" if text else "No"), Reply(allow=False, feedback=text)

    def back(self) -> Dialog | Answer:
        """Leave the writing, or stop the turn."""
        return replace(self, writing=False) if self.writing else self.stop()

    def stop(self) -> Answer:
        """Refuse, and stop the turn."""
        return "No, stop", STOP

    def lines(self) -> Sequence[Line]:
        """Return what to draw."""
        shown: list[Line] = []
        for index, choice in enumerate(self.choices):
            here = index == self.selected
            style = "bold ansicyan" if here else ""
            shown.append([(style, f"  {'❯' if here else ' '} {index + 1}. {choice.label}")])
        in_a_turn = any(choice.reply is None for choice in self.choices)
        stay = "Esc: no, and stop the turn" if in_a_turn else "Esc: not now"
        hint = "Enter sends it to the model, Esc goes back" if self.writing else stay
        return [*shown, [(_DIM, f"    {hint}")]]
