"""Whose instructions a file holds."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, TypeAlias

Kind: TypeAlias = Literal["Managed", "User", "Project", "Local"]
_TITLES: Final[dict[Kind, str]] = {
    "Managed": "of whoever manages this machine",
    "User": "the user's own, for all projects",
    "Project": "of the project",
    "Local": "the user's own, not checked in",
}


@dataclass(frozen=True)
class InstructionsFile:
    """One file's text, without comments. `parent` is the file that imports it, `globs` say which files it is for."""

    path: Path
    kind: Kind
    text: str
    parent: Path | None = None
    globs: tuple[str, ...] = ()

    @property
    def heading(self) -> str:
        """How the text begins wherever it stands in a conversation."""
        return f"Instructions from {self.path} ("

    @property
    def described(self) -> str:
        """The text below a line that names the file."""
        origin = f"imported by {self.parent}" if self.parent else _TITLES[self.kind]
        where = f", for {', '.join(self.globs)}" if self.globs else ""
        return f"{self.heading}{origin}{where}):\n\n{self.text}"
