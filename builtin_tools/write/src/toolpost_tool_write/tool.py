"""The tool Write."""

from __future__ import annotations

import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

from toolpost import FileRecord, Progress, Tool, ToolFailed, ToolResult

if TYPE_CHECKING:
    import os
    from pathlib import Path

    from toolpost import PermissionScope, RuleUpdate, TextFile, ToolContext, ToolResultBlock, View

KEPT_CHARS = 1_000_000
"""Characters of the old text that go into the structured output; of bigger files only the patch does."""


@dataclass(frozen=True)
class WriteInput:
    """What to write, where."""

    file_path: Annotated[str, "Absolute path"]
    content: Annotated[str, "The whole content of the file"]


class Write(Tool[WriteInput]):
    """Creates a file, with its folders, or replaces one as a whole.

    - An existing file must have been read in this session and not have changed since.
    - Content is written as given, line endings too; a replaced file keeps its encoding, mode and links.
    - To change part of a file use Edit. Write no documentation or notes that nobody asked for.
    """

    name = "Write"
    search_hint = "create new file overwrite"
    input_model = WriteInput

    def get_path(self, input: WriteInput) -> str | None:
        """Return the file."""
        return input.file_path

    def backfill_observable_input(self, input: Mapping[str, Any], ctx: ToolContext) -> Mapping[str, Any]:
        """Make the path absolute for hooks and rules."""
        return {**input, "file_path": str(ctx.resolve(input["file_path"]))}

    def activity(self, input: WriteInput) -> str:
        """Say what is written."""
        return f"Writing {input.file_path}"

    def suggestions(self, input: WriteInput, scope: PermissionScope) -> Sequence[RuleUpdate]:
        """Offer to accept all edits of this session, where the file lies in the working directories."""
        inside = any((scope.cwd / input.file_path).is_relative_to(folder) for folder in scope.directories)
        return ({"type": "setMode", "mode": "acceptEdits", "destination": "session"},) if inside else ()

    async def preview(self, input: WriteInput, ctx: ToolContext) -> View | None:
        """Show the change as a diff."""
        from toolpost import Diff

        path = ctx.resolve(input.file_path)
        before = (await ctx.files.load(path)).text if _stat(path) is not None else None
        return Diff(str(path), before, input.content)

    def classifier_input(self, input: WriteInput) -> str:
        """Return path and content."""
        return f"{input.file_path}: {input.content}"

    async def validate_input(self, input: WriteInput, ctx: ToolContext) -> str | None:
        """Refuse what could not be written, before anybody is asked about it."""
        if input.file_path.endswith("/") or not input.file_path:
            return f"file_path {input.file_path!r} names no file; give the path of one."
        try:
            input.content.encode()
        except UnicodeEncodeError as error:
            return f"content holds half a character (a lone surrogate) at position {error.start}; send it whole."
        await _as_last_seen(ctx.resolve(input.file_path), ctx)
        return None

    async def call(self, input: WriteInput, ctx: ToolContext, progress: Progress) -> ToolResult:
        """Write, and remember the new state as read."""
        del progress
        path, real = ctx.resolve(input.file_path), ctx.real(input.file_path)
        before = await _as_last_seen(path, ctx)
        try:
            written, recoded = await _write(path, input.content, before, ctx)
        except OSError as error:
            raise ToolFailed(_reason(error, path)) from None
        ctx.reads.put(real, FileRecord.of(written))
        return ToolResult(_data(str(path), input.content, before, recoded))

    def to_result_block(self, data: Any, tool_use_id: str) -> ToolResultBlock:
        """Say what was done and how much changed."""
        if data["type"] == "create":
            text = f"Created {data['filePath']} ({_lines(data['content'])})."
        else:
            body = [line[0] for hunk in data["structuredPatch"] for line in hunk["lines"]]
            what = f"+{body.count('+')} -{body.count('-')} lines" if body else "no line changed"
            text = f"Updated {data['filePath']} ({what})."
        if data.get("recoded"):
            text += f" It was {data['recoded']}, which lacks some of its characters; it is UTF-8 now."
        return {"type": "tool_result", "tool_use_id": tool_use_id, "content": text}

    def render_result(self, data: Any) -> View | None:
        """Show the change as a diff."""
        from toolpost import Diff

        return Diff(data["filePath"], data["originalFile"], data["content"])


async def _as_last_seen(path: Path, ctx: ToolContext) -> TextFile | None:
    """Return the file that is to be replaced, which the model must know as it is; None if there is none."""
    found = _stat(path)
    if found is None:
        return None
    record = ctx.reads.get(ctx.real(path))
    if record is None and found.st_size:
        raise ToolFailed(await _unread(path, ctx))
    try:
        loaded = await ctx.files.load(path)
    except OSError as error:
        raise ToolFailed(_reason(error, path)) from None
    if record is not None and not record.matches(loaded):
        ctx.reads.outdate(ctx.real(path))
        raise ToolFailed(f"{path} has changed since it was read, by somebody else. Read it again, then write it.")
    return loaded


async def _unread(path: Path, ctx: ToolContext) -> str:
    """Say what is to be done first: what is no text can't be read."""
    try:
        is_binary = "\0" in (await ctx.files.load(path)).raw_text
    except OSError as error:
        raise ToolFailed(_reason(error, path)) from None
    if is_binary:
        return f"{path} exists and is a binary file. To put a text in its place remove it first, with Bash."
    return f"{path} exists and has not been read yet. Read it first, then write it, or use Edit."


def _stat(path: Path) -> os.stat_result | None:
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ToolFailed(_reason(error, path)) from None
    if not stat.S_ISREG(found.st_mode):
        what = "a folder" if stat.S_ISDIR(found.st_mode) else "no regular file"
        raise ToolFailed(f"{path} is {what}; Write takes regular files only.")
    return found


async def _write(path: Path, content: str, before: TextFile | None, ctx: ToolContext) -> tuple[TextFile, str]:
    """Write in the old file's encoding; in UTF-8 where that lacks a character, and then name the old one."""
    if before is None:
        return await ctx.files.write_text(path, content), ""
    # The content's line endings are the model's: `\n` is meant as it stands.
    like = None if "\0" in before.raw_text else replace(before, newline="\n")
    if like is not None and like.bom:
        content = content.removeprefix("\ufeff")
    try:
        return await ctx.files.write_text(path, content, like=like, expect=before.digest), ""
    except UnicodeEncodeError:
        return await ctx.files.write_text(path, content, expect=before.digest), before.encoding


def _data(path: str, content: str, before: TextFile | None, recoded: str) -> dict[str, Any]:
    from toolpost import structured_patch

    old = None if before is None else before.raw_text
    return {
        "type": "create" if old is None else "update",
        "filePath": path,
        "content": content,
        "structuredPatch": [] if old is None else structured_patch(old, content),
        "originalFile": old if old is None or len(old) <= KEPT_CHARS else None,
        "userModified": False,
    } | ({"recoded": recoded} if recoded else {})


def _lines(text: str) -> str:
    count = text.count("\n") + bool(text and not text.endswith("\n"))
    return "empty" if not text else f"{count} line{'s' * (count != 1)}"


def _reason(error: OSError, path: Path) -> str:
    where = f" ({error.filename})" if error.filename and str(error.filename) != str(path) else ""
    return f"Can't write {path}: {error.strerror or error}{where}. Nothing was changed."
