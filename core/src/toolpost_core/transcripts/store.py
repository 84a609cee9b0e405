"""Where sessions lie, and finding one."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from toolpost import SessionError
from toolpost._frozen import frozen
from toolpost.paths import project_key
from toolpost_core.transcripts.reading import unreadable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from toolpost_core.transcripts.listing import SessionFile

SUFFIX: Final = ".jsonl"
MOST: Final = 10
"""The most sessions that a message names."""
ID: Final = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]{0,127}")


@frozen()
class Store:
    """The sessions under a config folder."""

    config_dir: Path

    def folder(self, project: Path) -> Path:
        """Return the folder of a project's sessions (compat.md section 9)."""
        return self.config_dir / "projects" / project_key(project)

    def path(self, project: Path, session_id: str) -> Path:
        """Return where a session's transcript lies. Raises SessionError for what can't be an id."""
        if not ID.fullmatch(session_id):
            raise SessionError(f"{session_id[:80]!r} is no session id: use up to 128 letters, digits, dots, _ and -.")
        return self.folder(project) / f"{session_id}.jsonl"

    def vacant(self, project: Path, session_id: str) -> str:
        """Return the id. Raises SessionError where a session of the project has it, or no session can."""
        if self.path(project, session_id).exists():
            raise SessionError(
                f"There is a session {session_id} already. Go on with it (--resume {session_id}), or give another id."
            )
        return session_id

    def of(self, project: Path) -> list[SessionFile]:
        """Return a project's sessions, newest first. Raises SessionError where its folder can't be read."""
        files = _transcripts_in(self.folder(project))
        return [session for session in _looked_at(files) if session.project == project]

    def all(self) -> list[SessionFile]:
        """Return every session, newest first. Raises SessionError where a folder can't be read."""
        return list(_looked_at(self.transcripts()))

    def unreadable(self, project: Path | None = None) -> list[tuple[Path, OSError]]:
        """Return the files of a project, or of all, that can't be read. Raises SessionError where a folder can't be."""
        files = self.transcripts() if project is None else _transcripts_in(self.folder(project))
        return [(path, error) for path in files if (error := _obstacle(path)) is not None]

    def transcripts(self) -> list[Path]:
        """Return the files of all sessions. Raises SessionError where a folder can't be read."""
        return [path for folder in self.folders() for path in _transcripts_in(folder)]

    def folders(self) -> list[Path]:
        """Return the folders of all projects. Raises SessionError where they can't be read."""
        return [folder for folder in _listed_in(self.config_dir / "projects") if folder.is_dir()]

    def find(self, wanted: str, project: Path) -> Path:
        """Return the transcript of a session by id, unique beginning of an id, file or title. Raises SessionError."""
        file = _file(wanted)
        if file is not None and os.path.isfile(file):  # noqa: PTH113 - a Path's fails for names that are too long
            return file
        matches = self._with_id(wanted, project) or self._called(wanted, project)
        if len(matches) == 1:
            return matches[0]
        if matches:
            raise SessionError(
                f"{wanted[:80]!r} names {len(matches)} sessions; give the id of one:\n{_listed(matches)}"
            )
        if file is not None:
            raise SessionError(f"There is no session file {file}.")
        raise SessionError(
            f"There is no session {wanted[:80]!r}. `toolpost sessions list` shows those that are there, and "
            "`toolpost sessions list --search WORDS` finds those in which something was said."
        )

    def _with_id(self, wanted: str, project: Path) -> list[Path]:
        if not ID.fullmatch(wanted):
            return []
        own = self.path(project, wanted)
        if own in _transcripts_in(own.parent):
            return [own]
        matches = [path for path in self.transcripts() if path.stem.startswith(wanted)]
        return [path for path in matches if path.stem == wanted] or matches

    def _called(self, wanted: str, project: Path) -> list[Path]:
        """Return a project's sessions of a title; where none has it as it is, those with all its words."""
        title = " ".join(wanted.split()).casefold()
        if not title:
            return []
        named = [(session.path, session.title.casefold()) for session in self.of(project)]
        alike = [path for path, name in named if name == title]
        return alike or [path for path, name in named if all(word in name for word in title.split())]

    def latest(self, project: Path) -> Path:
        """Return the newest session of a project. Raises SessionError where there is none, or it can't be read.

        Folders of similar names share a place, so the file is asked; of one that does not answer an older one is no
        substitute.
        """
        for path in sorted(_transcripts_in(self.folder(project)), key=_changed, reverse=True):
            if (error := _obstacle(path)) is not None:
                raise unreadable(path, error)
            if any(session.project == project for session in _looked_at([path])):
                return path
        raise SessionError(
            f"There is no session in {project} to continue; start one without --continue. Where the folder was moved, "
            "`toolpost sessions list --all` shows the sessions, and --resume ID goes on with one here."
        )


def _transcripts_in(folder: Path) -> list[Path]:
    """Return the transcripts of a folder, which may not be there. Raises SessionError where it can't be read."""
    return [path for path in _listed_in(folder) if path.suffix == SUFFIX]


def _listed_in(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except FileNotFoundError:
        return []
    except OSError as error:
        raise SessionError(
            f"The folder of sessions {folder} can't be read: {error.strerror or error}. Mend its rights, or what is in its "
            "place; a new session needs nothing of it."
        ) from error


def _obstacle(path: Path) -> OSError | None:
    """Return why a transcript can't be read; a folder, or what is gone by now, is none."""
    try:
        os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
    except FileNotFoundError:
        return None
    except OSError as error:
        return error
    return None


def _file(wanted: str) -> Path | None:
    """Return the file that somebody means; None for what is written like none."""
    is_one = wanted.endswith(".jsonl") or "/" in wanted
    return Path(os.path.expanduser(wanted)).absolute() if is_one else None  # noqa: PTH111 - a Path's fails for ~nobody


def _listed(paths: Sequence[Path]) -> str:
    from toolpost_core.transcripts.listing import look

    shown = [f"  {path.stem}  {session.title[:60]}" for path in paths[:MOST] if (session := look(path)) is not None]
    return "\n".join([*shown, *(["  ..."] if len(paths) > MOST else [])])


def _looked_at(paths: Iterable[Path]) -> Iterator[SessionFile]:
    """Look at transcripts one by one, the newest first."""
    from toolpost_core.transcripts.listing import look

    for path in sorted(paths, key=_changed, reverse=True):
        session = look(path)
        if session is not None:
            yield session


def _changed(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return _own_time(path)


def _own_time(path: Path) -> float:
    """Return when a name was changed that leads nowhere."""
    try:
        return path.lstat().st_mtime
    except OSError:
        return 0.0
