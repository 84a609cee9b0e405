"""Listing files where there is no ripgrep."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from time import monotonic


def files(top: Path, seconds: float, without: Collection[str]) -> Iterator[str]:
    """Yield the files below `top`, relative to it, without those that .gitignore files name; follows no links.

    Folders whose name is in `without` are left out; after `seconds` nothing more comes.
    """
    until = monotonic() + seconds
    ignored: dict[str, Callable[[str], bool]] = {}
    for folder, folders, names in os.walk(top):
        if monotonic() > until:
            return
        here = os.path.relpath(folder, top)
        prefix = "" if here == "." else f"{here}/"
        ignore = ignored[here] = _ignore(Path(folder), prefix, ignored.get(os.path.dirname(here) or "."))  # noqa: PTH120
        folders[:] = [name for name in folders if name not in without and not ignore(f"{prefix}{name}/")]
        yield from (prefix + name for name in names if not ignore(prefix + name))


def _ignore(folder: Path, prefix: str, above: Callable[[str], bool] | None) -> Callable[[str], bool]:
    """Return what says whether a path (relative to the top) is ignored by this folder's .gitignore or one above."""
    from pathspec import GitIgnoreSpec

    try:
        spec = GitIgnoreSpec.from_lines((folder / ".gitignore").read_text(errors="replace").splitlines())
    except OSError:
        return above or (lambda _: False)
    return lambda path: bool(above and above(path)) or spec.match_file(path.removeprefix(prefix))
