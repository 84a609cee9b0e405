"""What the model may have meant by a path where nothing is."""

from __future__ import annotations

import json
import os
import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path

MOST_NAMES = 5_000
"""Names of a folder that are looked at."""
MOST_SUGGESTIONS = 3
_QUOTED = re.compile("[\"'`](.+)[\"'`]$")


def describe_missing(path: Path, cwd: Path) -> str:
    """Say that there is no such file, and which ones are like it."""
    if path.is_symlink():
        return f"{path} is a symbolic link to {os.readlink(path)!r}, which does not exist."  # noqa: PTH115 - as written
    found = list(dict.fromkeys(_suggestions(path, cwd)))[:MOST_SUGGESTIONS]
    meant = f" Did you mean {' or '.join(_named(one, path) for one in found)}?" if found else ""
    where = "" if found or path.parent.is_dir() else f" The folder {path.parent} does not exist either."
    return f"File not found: {path}. The current folder is {cwd}.{meant}{where}"


def _named(found: Path, path: Path) -> str:
    """Name a file; where its name looks like the one that was asked for, as JSON can spell it."""
    alike = _plain(found.name) == _plain(path.name) and not found.name.isascii()
    return f"{found} (in JSON {json.dumps(str(found))}: its name only looks like yours)" if alike else str(found)


def _suggestions(path: Path, cwd: Path) -> Iterator[Path]:
    quoted = _QUOTED.search(str(path))
    if quoted and (cwd / quoted[1]).is_file():
        yield cwd / quoted[1]
    names = _names(path.parent)
    yield from (path.parent / name for name in names if _plain(name) == _plain(path.name))
    yield from _under(path, cwd)
    yield from (path.parent / name for name in names if Path(name).stem == path.stem)
    if names:
        from difflib import get_close_matches

        yield from (path.parent / name for name in get_close_matches(path.name, names, MOST_SUGGESTIONS, 0.7))


def _names(folder: Path) -> list[str]:
    names: list[str] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                names.append(entry.name)
                if len(names) == MOST_NAMES:
                    break
    except OSError:
        return []
    return sorted(names)


def _plain(name: str) -> str:
    """Make names equal that look equal: composed or not, with the narrow no-break space of macOS screenshots or not."""
    return unicodedata.normalize("NFKC", name).casefold().replace("\u2019", "'")


def _under(path: Path, cwd: Path) -> Iterator[Path]:
    """Look for the end of the path below the current folder: models leave out, or double, a folder."""
    parts = path.parts[1:]
    for start in range(1, min(len(parts), 20)):
        candidate = cwd.joinpath(*parts[start:])
        if candidate != path and candidate.is_file():
            yield candidate
            return
