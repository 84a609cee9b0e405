"""Finds and reads the instructions files of a session, and what they import."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from toolpost import SessionScope

Kind: TypeAlias = Literal["User", "Project", "Local"]
_MAX_BYTES = 4 * 1024 * 1024
_TITLES = {
    "User": "the user's own, for all projects",
    "Project": "of the project",
    "Local": "the user's own, not checked in",
}


@dataclass(frozen=True)
class InstructionsFile:
    """One file's text, without comments. `parent` is the file that imports it."""

    path: Path
    kind: Kind
    text: str
    parent: Path | None = None

    @property
    def described(self) -> str:
        """The text below a line that names the file."""
        origin = f"imported by {self.parent}" if self.parent else _TITLES[self.kind]
        return f"Instructions from {self.path} ({origin}):\n\n{self.text}"


def load(scope: SessionScope, names: Sequence[str], local_names: Sequence[str], depth: int) -> list[InstructionsFile]:
    """Return the files in reading order, each followed by what it imports; a file is read once."""
    reader = _Reader(scope, depth)
    for path, kind in _places(scope, names, local_names):
        reader.add(path, kind)
    return reader.found


def _places(scope: SessionScope, names: Sequence[str], local_names: Sequence[str]) -> Iterator[tuple[Path, Kind]]:
    yield scope.config_dir / names[0], "User"
    groups: tuple[tuple[Sequence[str], Kind], ...] = ((names, "Project"), (local_names, "Local"))
    for folder in (*reversed(scope.cwd.parents), scope.cwd):
        for wanted, kind in groups:
            path = next((folder / name for name in wanted if (folder / name).is_file()), None)
            if path is not None:
                yield path, kind


class _Reader:
    """Collects files in order, and remembers which were read."""

    def __init__(self, scope: SessionScope, depth: int) -> None:
        self.found: list[InstructionsFile] = []
        self._scope, self._depth = scope, depth
        self._seen: set[Path] = set()
        self._root = _project_root(scope)

    def add(self, path: Path, kind: Kind, parent: Path | None = None, depth: int = 0) -> bool:
        """Read a file and its imports; False where there is none that may be read."""
        try:
            real, folder = path.resolve(), path.parent.resolve()
        except (OSError, RuntimeError):  # symbolic links that lead to themselves
            return False
        if not self._may_read(real, folder, kind, imported=parent is not None):
            return False
        if real in self._seen:
            return True
        text = self._read(real)
        if text is None:
            return False
        self._seen.add(real)
        from toolpost_context_instructions.markup import read_markup  # only where there is a file: it costs 2 ms

        kept, imports = read_markup(text)
        if kept.strip():
            self.found.append(InstructionsFile(path, kind, kept.strip(), parent))
        if depth < self._depth:
            for name in imports:
                self._follow(name, path, kind, depth)
        return True

    def _follow(self, name: str, importer: Path, kind: Kind, depth: int) -> None:
        # A full stop or bracket after the path belongs to the sentence, unless the file is really called so.
        for candidate in dict.fromkeys((name, name.rstrip(".,;:!?)]}'\""))):
            if candidate and self.add(self._target(candidate, importer), kind, importer, depth + 1):
                return

    def _target(self, name: str, importer: Path) -> Path:
        if name == "~" or name.startswith("~/"):
            return self._scope.home / name[2:]
        return Path(importer.parent, name)

    def _may_read(self, real: Path, folder: Path, kind: Kind, *, imported: bool) -> bool:
        """An untrusted project's files reach nothing outside it, by import or by symbolic link; the user's own may."""
        if self._scope.trusted or kind == "User":
            return True
        return real.is_relative_to(self._root) or not (imported or folder.is_relative_to(self._root))

    def _read(self, path: Path) -> str | None:
        try:
            if not path.is_file():
                return None
            with path.open("rb") as file:
                data = file.read(_MAX_BYTES + 1)
        except (OSError, ValueError) as error:
            self._scope.report(f"The instructions file {path} can't be read: {error}")
            return None
        if len(data) > _MAX_BYTES or b"\0" in data:
            why = "it has more than 4 MiB" if len(data) > _MAX_BYTES else "it is not a text"
            self._scope.report(f"The instructions file {path} is left out: {why}.")
            return None
        return data.decode("utf-8-sig", errors="replace").replace("\r\n", "\n")


def _project_root(scope: SessionScope) -> Path:
    """The repository that the project lies in, or the project's folder; without symbolic links."""
    project = scope.project.resolve()
    return next((folder for folder in (project, *project.parents) if (folder / ".git").exists()), project)
