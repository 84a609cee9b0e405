"""Reads instructions files with what they import, each once."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Final

from toolpost import SessionScope
from toolpost_context_instructions.kinds import InstructionsFile, Kind

MOST_BYTES: Final = 4 * 1024 * 1024


class Reader:
    """Collects files in order, and remembers by their real paths which were read; `read` are those that were before."""

    def __init__(self, scope: SessionScope, depth: int, read: Collection[Path] = ()) -> None:
        self.found: list[InstructionsFile] = []
        self.read = set(read)
        self._scope, self._depth = scope, depth
        self._root = project_root(scope)
        self._excluded: Sequence[str] = scope.settings.get("claudeMdExcludes") or ()

    def add(self, path: Path, kind: Kind) -> None:
        """Take a file and what it imports, where it may be read and was not."""
        self._import(path, kind, None, 0)

    def once(self, path: Path, kind: Kind) -> str | None:
        """Return the text of a file that may be read and was not."""
        real = self._real(path, kind, imported=False)
        if real is None or real in self.read:
            return None
        self.read.add(real)
        return self._text(real)

    def take(
        self, path: Path, kind: Kind, text: str, parent: Path | None = None, depth: int = 0, globs: tuple[str, ...] = ()
    ) -> None:
        """Take a file's text, and the files that it imports."""
        from toolpost_context_instructions.markup import read_markup  # only where there is a file: it costs 2 ms

        kept, imports = read_markup(text)
        if kept.strip():
            self.found.append(InstructionsFile(path, kind, kept.strip(), parent, globs))
        if depth < self._depth:
            for name in imports:
                self._follow(name, path, kind, depth)

    def _import(self, path: Path, kind: Kind, parent: Path | None, depth: int) -> bool:
        """Take a file and its imports; False where there is none that may be read."""
        real = self._real(path, kind, imported=parent is not None)
        if real is None:
            return False
        if real in self.read:
            return True
        text = self._text(real)
        if text is None:
            return False
        self.read.add(real)
        self.take(path, kind, text, parent, depth)
        return True

    def _follow(self, name: str, importer: Path, kind: Kind, depth: int) -> None:
        # A full stop or bracket after the path belongs to the sentence, unless the file is really called so.
        for candidate in dict.fromkeys((name, name.rstrip(".,;:!?)]}'\""))):
            if candidate and self._import(self._target(candidate, importer), kind, importer, depth + 1):
                return

    def _target(self, name: str, importer: Path) -> Path:
        if name == "~" or name.startswith("~/"):
            return self._scope.home / name[2:]
        return Path(importer.parent, name)

    def _real(self, path: Path, kind: Kind, *, imported: bool) -> Path | None:
        """Return where a file really lies; None where it may not be read."""
        try:
            real = path.resolve()
            may_read = self._may_read(path, real, kind, imported=imported)
        except (OSError, RuntimeError):  # symbolic links that lead to themselves
            return None
        return real if may_read and not self._excludes(path, kind) else None

    def _may_read(self, path: Path, real: Path, kind: Kind, *, imported: bool) -> bool:
        """An untrusted project's files reach nothing outside it, by import or by symbolic link; the user's own may."""
        if self._scope.trusted or kind in ("Managed", "User") or real.is_relative_to(self._root):
            return True
        return not imported and not any(folder.resolve().is_relative_to(self._root) for folder in path.parents)

    def _excludes(self, path: Path, kind: Kind) -> bool:
        """Whether the settings leave a file out; policy can't be left out."""
        if not self._excluded or kind == "Managed":
            return False
        from toolpost_context_instructions.globs import matches

        return matches(self._excluded, path.as_posix())

    def _text(self, path: Path) -> str | None:
        try:
            if not path.is_file():
                return None
            with path.open("rb") as file:
                data = file.read(MOST_BYTES + 1)
        except (OSError, ValueError) as error:
            self._scope.report(f"The instructions file {path} can't be read: {error}")
            return None
        if len(data) > MOST_BYTES or b"\0" in data:
            why = "it has more than 4 MiB" if len(data) > MOST_BYTES else "it is not a text in UTF-8"
            self._scope.report(f"The instructions file {path} is left out: {why}.")
            return None
        return data.decode("utf-8-sig", errors="replace").replace("\r\n", "\n")


def project_root(scope: SessionScope) -> Path:
    """The repository that the project lies in, or the project's folder; without symbolic links."""
    project = scope.project.resolve()
    return next((folder for folder in (project, *project.parents) if (folder / ".git").exists()), project)
