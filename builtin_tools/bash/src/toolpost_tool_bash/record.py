"""What is known of one command's effects."""

from __future__ import annotations

from dataclasses import dataclass, field

from .arguments import Argument


@dataclass
class Effects:
    """Files by kind (`read`, `list`, `tree`, `write`, `wipe`), and why the table does not vouch for the rest.

    `copies` are folders that are copied with all below them, each with where to. `globs` are patterns that do no harm
    unless a name that they match begins with a dash. `sweeps` are folders below which all that has a name of a pattern is
    removed. `started` are the commands that are run on what is found, each with whether it gets several files at once.
    `given` are options with their values. Where there are `names`, only what has a name of one of these patterns is read
    of a tree.
    """

    files: list[tuple[str, Argument]] = field(default_factory=list)
    copies: list[tuple[Argument, Argument]] = field(default_factory=list)
    globs: list[Argument] = field(default_factory=list)
    sweeps: list[tuple[Argument, str]] = field(default_factory=list)
    why: str = ""
    known: bool = True
    operands: list[Argument] = field(default_factory=list)
    options: set[str] = field(default_factory=set)
    started: list[tuple[list[Argument], bool]] = field(default_factory=list)
    given: list[tuple[str, Argument]] = field(default_factory=list)
    names: tuple[str, ...] = ()

    def refuse(self, why: str) -> None:
        """Keep the first reason."""
        self.why = self.why or why
