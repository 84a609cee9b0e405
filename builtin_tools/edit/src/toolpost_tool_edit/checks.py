"""What must hold before a file is changed, and the errors that say which of it does not."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from toolpost import FileRecord, TextFile, ToolFailed

from .match import Found, again_within

if TYPE_CHECKING:
    from pathlib import Path

    from toolpost import ToolContext

    from .tool import EditInput

BIGGEST = 1 << 30
"""Bytes of the biggest file that is edited in memory."""
LINES_NAMED = 10


async def load_unchanged(path: Path, ctx: ToolContext) -> TextFile:
    """Return the file, which must be as the model last saw it."""
    record = ctx.reads.get(ctx.real(path))
    found = _stat(path)
    if found is None:
        raise ToolFailed(f"{path} {'no longer exists' if record else 'does not exist'}.")
    if found.st_size > BIGGEST:
        raise ToolFailed(f"{path} has {found.st_size} bytes; Edit takes at most {BIGGEST}. Use Bash (sed).")
    if record is None:
        raise ToolFailed(f"{path} has not been read yet. Read it first, then edit it.")
    try:
        loaded = await ctx.files.load(path)
    except OSError as error:
        raise ToolFailed(f"Can't read {path}: {error.strerror or error}.") from None
    if not record.matches(loaded):
        ctx.reads.outdate(ctx.real(path))
        raise ToolFailed(f"{path} has changed since it was read, by somebody else. Read it again, then edit it.")
    return loaded


async def nothing_there(path: Path, ctx: ToolContext) -> TextFile | None:
    """Return the empty file that is there, if there is one; a file with content is refused."""
    found = _stat(path)
    if found is None:
        return None
    if found.st_size:
        raise ToolFailed(
            f"old_string is empty, but {path} exists and has content. Give the text to replace, or use Write to "
            "replace the whole file."
        )
    return await ctx.files.load(path)


def require_place(path: Path, text: str, found: Found, input: EditInput) -> None:
    """Refuse a text that is not there, or there more than once where one place was asked for."""
    if not found.spans:
        from .nearest import explain

        raise ToolFailed(f"old_string was not found in {path}. {explain(text, input.old_string)}".rstrip())
    if input.replace_all:
        return
    starts = [start for start, _ in found.spans]
    if len(starts) == 1 and (other := again_within(text, input.old_string, found)) is not None:
        starts.append(other)
    if len(starts) == 1:
        return
    lines = [str(text.count("\n", 0, start) + 1) for start in starts[:LINES_NAMED]]
    more = ", …" if len(starts) > LINES_NAMED else ""
    raise ToolFailed(
        f"old_string occurs {len(starts)} times in {path} (lines {', '.join(lines)}{more}). Add lines around it "
        "until it stands for one place, or set replace_all."
    )


async def write(path: Path, text: str, *, like: TextFile | None, expect: str | None, ctx: ToolContext) -> None:
    """Replace the file if it is still as expected, and remember it: it needs no Read before the next edit."""
    real = ctx.real(path)
    try:
        written = await ctx.files.write_text(path, text, like=like, expect=expect)
    except UnicodeEncodeError as error:
        encoding = like.encoding if like is not None else error.encoding
        raise ToolFailed(
            f"{path} is written in {encoding}, which has no {error.object[error.start : error.start + 1]!r}. "
            "Nothing was written; use other characters, or change the file's encoding first."
        ) from None
    except OSError as error:
        raise ToolFailed(f"Can't write {path}: {error.strerror or error}. Nothing was changed.") from None
    ctx.reads.put(real, FileRecord.of(written))


def _stat(path: Path) -> os.stat_result | None:
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ToolFailed(f"Can't edit {path}: {error.strerror or error}.") from None
    if not stat.S_ISREG(found.st_mode):
        what = "a folder" if stat.S_ISDIR(found.st_mode) else "no regular file"
        raise ToolFailed(f"{path} is {what}; Edit takes regular files only.")
    return found
