"""What the model reads about its memory."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from .files import text_of
from .places import INDEX

MOST_LINES: Final = 200
MOST_BYTES: Final = 25_000

_KEEP: Final = """\
# Memory
{folder} holds what is worth knowing in later sessions here. Save with Write, without asking, when the user says to \
remember something, corrects you, confirms a way of working, or tells you what code and git can't: one fact a file, \
`---` lines with name, description (one line that says when it matters), type (user, feedback, project or reference), \
then the fact and why. Add `- [name](file.md): hook` to {index} there. Mend or delete what turned out wrong; save no \
secrets, and nothing that files tell."""
_LOG: Final = """\
# Memory
{folder} holds what is worth knowing in later sessions here. Do not reorganize it: add a line to logs/YYYY/MM/YYYY-MM-DD.md \
there (today's date), without asking, for what the user wants remembered, corrects or confirms, or tells you that code \
and git can't. Save no secrets."""
_USE: Final = """\
A memory was true when it was saved: check that a file or name it mentions is there before you rely on it. If the user \
says to ignore memory, act as if it were empty: don't apply, cite, compare or mention it."""


def how_to_keep(folder: Path, *, daily_log: bool = False) -> str:
    """Return how memory is kept and used."""
    keep = _LOG if daily_log else _KEEP
    return f"{keep.format(folder=folder, index=INDEX)}\n{_USE}"


def index_in(folder: Path) -> str:
    """Return the index as it goes before the first prompt, cut with a warning; empty where there is none."""
    path = folder / INDEX
    text, size = text_of(path, MOST_BYTES)
    lines = text.strip().splitlines()
    if not lines:
        return ""
    shown = "\n".join(lines[:MOST_LINES])
    cut = f"\n\n{_warning(size)}" if size > MOST_BYTES or len(lines) > MOST_LINES else ""
    return f"Memory of earlier sessions, from {path}:\n\n{shown}{cut}"


def _warning(size: int) -> str:
    return (
        f"[{INDEX} is cut here: it has {size:,} bytes, and only {MOST_LINES} lines and {MOST_BYTES:,} bytes are read. Keep "
        "an entry to one short line, and put what is more into its file.]"
    )
