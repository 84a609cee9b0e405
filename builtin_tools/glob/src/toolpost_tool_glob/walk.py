"""Listing files where there is no ripgrep."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic

from .find import NOT_LISTED


def files(top: Path, seconds: float) -> Iterator[str]:
    """Yield the files below `top`, relative to it, without those that .gitignore files name; follows no links."""
    until = monotonic() + seconds
    ignored: dict[str, Callable[[str], bool]] = {}
    for folder, folders, names in os.walk(top):
        if monotonic() > until:
            return
        here = os.path.relpath(folder, top)
        prefix = "" if here == "." else f"{here}/"
        ignore = ignored[here] = _ignore(Path(folder), prefix, ignored.get(os.path.dirname(here) or "."))  # noqa: PTH120
        folders[:] = [name for name in folders if name not in NOT_LISTED and not ignore(f"{prefix}{name}/")]
        yield from (prefix + name for name in names if not ignore(prefix + name))


def _ignore(folder: Path, prefix: str, above: Callable[[str], bool] | None) -> Callable[[str], bool]:
    """Return what says whether a path (relative to the top) is ignored by this folder's .gitignore or one above."""
    from pathspec import GitIgnoreSpec

    try:
        spec = GitIgnoreSpec.from_lines((folder / ".gitignore").read_text(errors="replace").splitlines())
    except OSError:
        return above or (lambda _: False)
    return lambda path: bool(above and above(path)) or spec.match_file(path.removeprefix(prefix))
