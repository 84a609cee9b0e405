"""Where sessions lie, and finding one."""

from __future__ import annotations

import json
import re
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from toolpost import SessionError

if TYPE_CHECKING:
    from collections.abc import Iterator

KEY_CHARS = 200
ID: Final = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]{0,127}")


@dataclass(frozen=True)
class SessionFile:
    """A session's transcript; `modified` is its time of last change in seconds since 1970."""

    id: str
    path: Path
    modified: float
    size: int
    project: Path | None
    first_prompt: str


@dataclass(frozen=True)
class Store:
    """The sessions under a config folder."""

    config_dir: Path

    def folder(self, project: Path) -> Path:
        """Return the folder of a project's sessions (compat.md section 9: every other character becomes `-`)."""
        key = re.sub(r"[^A-Za-z0-9]", "-", str(project))
        if len(key) > KEY_CHARS:
            key = f"{key[:KEY_CHARS]}-{_hash36(str(project))}"
        return self.config_dir / "projects" / key

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
        """Return a project's sessions, newest first; folders of similar names share a place, so each file is asked."""
        found = [session for session in self._in(self.folder(project)) if session.project in (None, project)]
        return sorted(found, key=lambda session: session.modified, reverse=True)

    def all(self) -> list[SessionFile]:
        """Return every session, newest first."""
        folders = (self.config_dir / "projects").glob("*")
        found = [session for folder in folders if folder.is_dir() for session in self._in(folder)]
        return sorted(found, key=lambda session: session.modified, reverse=True)

    def find(self, wanted: str, project: Path) -> Path:
        """Return the transcript of a session by id, unique beginning of an id, or file. Raises SessionError."""
        if wanted.endswith(".jsonl") or "/" in wanted:
            path = Path(wanted).expanduser().absolute()
            if not path.is_file():
                raise SessionError(f"There is no session file {path}.")
            return path
        own = self.path(project, wanted)
        if own.is_file():
            return own
        matches = [session for session in self.all() if session.id.startswith(wanted)]
        if len(matches) == 1:
            return matches[0].path
        if not matches:
            raise SessionError(f"There is no session {wanted!r}. `toolpost sessions list` shows those that are there.")
        raise SessionError(f"{wanted!r} is the beginning of {len(matches)} sessions; give more of the id.")

    def latest(self, project: Path) -> Path:
        """Return the newest session of a project. Raises SessionError where there is none."""
        sessions = self.of(project)
        if not sessions:
            raise SessionError(f"There is no session in {project} to continue; start one without --continue.")
        return sessions[0].path

    def _in(self, folder: Path) -> Iterator[SessionFile]:
        for path in folder.glob("*.jsonl"):
            try:
                status = path.stat()
            except OSError:
                continue
            if not stat.S_ISREG(status.st_mode):
                continue
            first = _first_record(path)
            cwd = first.get("cwd")
            project = Path(cwd) if isinstance(cwd, str) else None
            yield SessionFile(path.stem, path, status.st_mtime, status.st_size, project, _prompt(first))


def _first_record(path: Path) -> dict[str, Any]:
    try:
        with path.open(encoding="utf-8", errors="replace") as lines:
            for line in lines:
                try:
                    record = json.loads(line)
                except (ValueError, RecursionError):
                    continue
                if isinstance(record, dict) and record.get("type") == "user":
                    return record
    except OSError:
        pass
    return {}


def _prompt(record: dict[str, Any]) -> str:
    message = record.get("message")
    content = message.get("content") if isinstance(message, dict) else ""
    if isinstance(content, list):
        texts = [str(b.get("text", "")) for b in content if isinstance(b, dict) and b.get("type") == "text"]
        content = texts[-1] if texts else ""
    return " ".join(str(content).split())[:200]


def _hash36(text: str) -> str:
    """Return the hash that readers of such folders know: 32-bit, times 31, in base 36 (compat.md section 9)."""
    value = 0
    for char in text:
        value = (value * 31 + ord(char)) & 0xFFFFFFFF
    value = abs(value - (1 << 32) if value & 0x80000000 else value)
    digits = ""
    while value:
        value, rest = divmod(value, 36)
        digits = "0123456789abcdefghijklmnopqrstuvwxyz"[rest] + digits
    return digits or "0"
