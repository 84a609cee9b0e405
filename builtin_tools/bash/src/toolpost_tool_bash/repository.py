"""Whether commands that only read would start nothing in a folder: what lies there may name programs."""

from __future__ import annotations

import os.path
import re
from collections.abc import Iterable
from pathlib import Path

_MOST_BYTES = 100_000
_RUNS = re.compile(
    r"^\s*(fsmonitor|external|textconv|pager|sshcommand|hookspath|askpass|editor|command|cmd|clean|smudge|process|path"
    r"|worktree|driver|helper|program|showsignature)\s*="
    r"|^\s*\[\s*(include|includeif|alias|pager|diff\s+\"|filter|extensions)",
    re.IGNORECASE | re.MULTILINE,
)


def runs_nothing(folder: Path) -> bool:
    """Whether the repository that git would find from here names no program and is no look-alike of one."""
    for place in (folder, *folder.parents):
        marker = place / ".git"
        try:
            if marker.is_dir():
                return _is_plain(marker / "config") and _is_plain(marker / "config.worktree")
            if marker.is_file():
                return _pointer_is_plain(marker)
            if (place / "HEAD").is_file() and (place / "objects").is_dir() and (place / "refs").is_dir():
                return False
        except OSError:
            return False
    return True


def holds_any(names: Iterable[str], folders: Iterable[str]) -> bool:
    """Whether a file of one of these names lies in a folder or above it."""
    places = {place for folder in folders for place in (Path(folder), *Path(folder).parents)}
    return any(os.path.lexists(place / name) for place in places for name in names)


def _pointer_is_plain(marker: Path) -> bool:
    text = marker.read_text("utf-8", errors="replace")[:4096]
    if not text.startswith("gitdir:"):
        return False
    own = marker.parent / text.removeprefix("gitdir:").strip()
    common = own / "commondir"
    shared = own / common.read_text("utf-8", errors="replace").strip() if common.is_file() else own
    return _is_plain(shared / "config") and _is_plain(own / "config.worktree")


def _is_plain(config: Path) -> bool:
    if not config.is_file():
        return True
    with config.open("rb") as file:
        data = file.read(_MOST_BYTES + 1)
    return len(data) <= _MOST_BYTES and not _RUNS.search(data.decode("utf-8", errors="replace"))
