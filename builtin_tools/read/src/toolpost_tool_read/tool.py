"""The tool Read."""

from __future__ import annotations

import asyncio
import base64
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from toolpost import UNLIMITED, FileRecord, Param, Progress, Tool, ToolFailed, ToolResult

from . import refuse, window

if TYPE_CHECKING:
    from toolpost import ToolContext, ToolResultBlock

HEAD = 8_192
"""Bytes looked at to tell what a file holds."""


@dataclass(frozen=True)
class ReadInput:
    """What to read."""

    file_path: Annotated[str, "Absolute path"]
    offset: Annotated[int | None, Param("First line, counted from 1", minimum=0)] = None
    limit: Annotated[int | None, Param("Number of lines", minimum=1)] = None
    pages: Annotated[str | None, Param("Pages of a PDF, as 1-5; at most 20")] = None


class Read(Tool[ReadInput]):
    """Reads a file of the local file system.

    - Text comes as `number<TAB>line`; the number and the tab are no part of the file. Up to 2000 lines a call, lines
      cut at 2000 characters; the result says how to read on with offset and limit. Read a whole file where it fits.
    - PNG, JPEG, GIF and WebP come as pictures, PDFs as documents, .ipynb as cells with ids and outputs.
    - A file must be read before Edit or Write may change it; not again after they did.
    - Read several files in one message where they are independent.
    - Not for folders (Glob) and not for finding text in many files (Grep).
    """

    name = "Read"
    search_hint = "file text image pdf notebook"
    input_model = ReadInput
    max_result_chars: ClassVar[float] = UNLIMITED  # It bounds itself; a copy in a file would have to be read too.

    def is_read_only(self, input: ReadInput) -> bool:
        """Reading changes nothing."""
        del input
        return True

    def is_concurrency_safe(self, input: ReadInput) -> bool:
        """Reads do not disturb one another."""
        del input
        return True

    def is_search_or_read(self, input: ReadInput) -> bool:
        """Front ends may fold reads together."""
        del input
        return True

    def get_path(self, input: ReadInput) -> str | None:
        """Return the file."""
        return input.file_path

    def backfill_observable_input(self, input: Mapping[str, Any], ctx: ToolContext) -> Mapping[str, Any]:
        """Make the path absolute for hooks and rules."""
        return {**input, "file_path": str(ctx.resolve(input["file_path"]))}

    def activity(self, input: ReadInput) -> str:
        """Say what is read."""
        return f"Reading {input.file_path}"

    async def validate_input(self, input: ReadInput, ctx: ToolContext) -> str | None:
        """Refuse a range of pages that is none."""
        del ctx
        if not input.pages:
            return None
        from . import pdf

        wanted = pdf.page_range(input.pages)
        return wanted if isinstance(wanted, str) else None

    async def call(self, input: ReadInput, ctx: ToolContext, progress: Progress) -> ToolResult:
        """Read by what the file holds, whatever it is called."""
        del progress
        path = ctx.resolve(input.file_path)
        found = refuse.regular_file(path, ctx.cwd)
        real = _real(path)
        if _is_as_shown(ctx.reads.get(real), input, found):
            return ToolResult({"type": "file_unchanged", "file": {"filePath": str(path)}})
        try:
            data, record = await _read(path, input, found, ctx)
        except OSError as error:
            raise ToolFailed(refuse.reason(error, path)) from None
        ctx.reads.put(real, record)
        return ToolResult(data)

    def to_result_block(self, data: Any, tool_use_id: str) -> ToolResultBlock:
        """Make the lines, picture or cells that the model reads."""
        return {"type": "tool_result", "tool_use_id": tool_use_id, "content": _content(data)}


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _is_as_shown(record: FileRecord | None, input: ReadInput, found: os.stat_result) -> bool:
    """Whether a Read of the same lines stands in the conversation and the file is still the same."""
    return (
        record is not None
        and record.shown
        and not input.pages
        and (record.offset, record.limit) == (input.offset, input.limit)
        and (record.mtime_ns, record.size) == (found.st_mtime_ns, found.st_size)
    )


async def _read(
    path: Path, input: ReadInput, found: os.stat_result, ctx: ToolContext
) -> tuple[dict[str, Any], FileRecord]:
    from . import picture

    head = await ctx.files.read_bytes(path, limit=HEAD)
    if head.startswith(b"%PDF-"):
        document = await _pdf(path, input, found, ctx)
        if document is not None:
            return document
    if input.pages:
        raise ToolFailed(f"{path} is no PDF, and pages are for PDFs only. Use offset and limit.")
    if picture.looks_like_picture(head):
        return await _picture(path, found, ctx)
    _refuse_binary(path, head, found)
    if found.st_size > ctx.limits.read_max_bytes:
        return await _big(path, input, found, ctx)
    return await _text(path, input, ctx)


async def _picture(path: Path, found: os.stat_result, ctx: ToolContext) -> tuple[dict[str, Any], FileRecord]:
    from . import picture, shrink

    try:
        if found.st_size > picture.MOST_BYTES:
            size = refuse.in_megabytes(found.st_size)
            raise ValueError(f"it has {size}, at most {refuse.in_megabytes(picture.MOST_BYTES)} are decoded")
        whole = await ctx.files.read_bytes(path)
        image = shown = picture.parse(whole)
        if not shrink.fits(image, ctx.limits.read_max_tokens):
            shown = await asyncio.to_thread(shrink.shrunk, image, ctx.limits.read_max_tokens)
    except ValueError as error:
        raise ToolFailed(f"{path} can't be shown as a picture: {error}.") from None
    return {
        "type": "image",
        "file": {
            "base64": base64.b64encode(shown.data).decode("ascii"),
            "type": shown.media_type,
            "originalSize": found.st_size,
            "dimensions": {
                "originalWidth": image.width,
                "originalHeight": image.height,
                "displayWidth": shown.width,
                "displayHeight": shown.height,
            },
        },
    }, _record(whole, found)


async def _pdf(
    path: Path, input: ReadInput, found: os.stat_result, ctx: ToolContext
) -> tuple[dict[str, Any], FileRecord] | None:
    """Return the whole document or the pages asked for; None for what only begins like a PDF."""
    from . import pdf, picture

    wanted = pdf.page_range(input.pages) if input.pages else None
    if isinstance(wanted, tuple):
        record = FileRecord(digest="", mtime_ns=found.st_mtime_ns, size=found.st_size, partial=True, shown=False)
        return await pdf.pages(path, wanted, ctx), record
    total = await pdf.count(path, ctx)
    if total is None:
        return None
    if total > pdf.MOST_WHOLE:
        raise pdf.too_long(path, total)
    if found.st_size > ctx.limits.read_max_bytes:
        raise pdf.too_big(path, total, refuse.in_megabytes(found.st_size))
    whole = await ctx.files.read_bytes(path)
    if not picture.is_whole_pdf(whole):
        return await pdf.pages(path, (1, None), ctx), _record(whole, found)
    encoded = base64.b64encode(whole).decode("ascii")
    file = {"filePath": str(path), "base64": encoded, "originalSize": len(whole)}
    return {"type": "pdf", "file": file}, _record(whole, found)


def _refuse_binary(path: Path, head: bytes, found: os.stat_result) -> None:
    wide = head.startswith((b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")) or _is_wide(head)
    if b"\0" in head and not wide:
        size = refuse.in_megabytes(found.st_size)
        raise ToolFailed(
            f"{path} is a binary file ({size}), which Read does not show. "
            "Use Bash with a program that knows the format, such as file, xxd or strings."
        )


def _is_wide(head: bytes) -> bool:
    """Whether it is UTF-16 without a mark: NULs on one side of most pairs, none on the other."""
    sides = sorted((head[::2].count(0), head[1::2].count(0)))
    return sides[0] == 0 and sides[1] * 10 >= len(head) // 2 * 7


async def _big(
    path: Path, input: ReadInput, found: os.stat_result, ctx: ToolContext
) -> tuple[dict[str, Any], FileRecord]:
    if input.offset is None and input.limit is None:
        raise ToolFailed(
            f"{path} has {refuse.in_megabytes(found.st_size)}; at once Read takes "
            f"{refuse.in_megabytes(ctx.limits.read_max_bytes)}. Give offset and limit, or search it with Grep."
        )
    start, limit = _range(input)
    shown = await asyncio.to_thread(window.of_big_file, path, start, limit, ctx.limits.read_max_tokens)
    # No digest: making one would take longer than the read. Time and size then tell a change.
    record = FileRecord(
        digest="",
        mtime_ns=found.st_mtime_ns,
        size=found.st_size,
        offset=input.offset,
        limit=input.limit,
        partial=shown.partial,
    )
    return _text_data(path, shown), record


async def _text(path: Path, input: ReadInput, ctx: ToolContext) -> tuple[dict[str, Any], FileRecord]:
    loaded = await ctx.files.load(path)
    record = FileRecord(
        digest=loaded.digest, mtime_ns=loaded.mtime_ns, size=loaded.size, offset=input.offset, limit=input.limit
    )
    if path.suffix == ".ipynb":
        from . import notebook

        try:
            cells = notebook.parse_cells(loaded.text)
            return {"type": "notebook", "file": {"filePath": str(path), "cells": cells}}, record
        except ValueError as error:
            note = f"This is not a valid notebook ({error}); its text follows."
    else:
        note = ""
    start, limit = _range(input)
    shown = window.of_text(loaded.text, start, limit, ctx.limits.read_max_tokens)
    from dataclasses import replace

    return _text_data(path, shown, note), replace(record, partial=shown.partial)


def _range(input: ReadInput) -> tuple[int, int]:
    return max(input.offset or 1, 1), input.limit or window.LINES


def _record(whole: bytes, found: os.stat_result) -> FileRecord:
    import hashlib

    return FileRecord(
        digest=hashlib.sha256(whole).hexdigest(), mtime_ns=found.st_mtime_ns, size=found.st_size, shown=False
    )


def _text_data(path: Path, shown: window.Window, note: str = "") -> dict[str, Any]:
    file: dict[str, Any] = {
        "filePath": str(path),
        "content": "\n".join(map(window.clipped, shown.lines)),
        "numLines": len(shown.lines),
        "startLine": shown.start,
        "totalLines": shown.total,
    }
    if shown.cut_by_size:
        file["truncatedByTokenCap"] = True
    return {"type": "text", "file": file} | ({"note": note} if note else {})


def _content(data: Mapping[str, Any]) -> Any:
    file = data["file"]
    match data["type"]:
        case "file_unchanged":
            return f"{file['filePath']} is unchanged since you read these lines; their text above is still right."
        case "image":
            source = {"type": "base64", "media_type": file["type"], "data": file["base64"]}
            return [{"type": "image", "source": source}, *_scale(file["dimensions"])]
        case "parts":
            from . import pdf

            return pdf.blocks(data)
        case "pdf":
            source = {"type": "base64", "media_type": "application/pdf", "data": file["base64"]}
            return [{"type": "document", "source": source}]
        case "notebook":
            from . import notebook

            return notebook.render(file["cells"])
        case _:
            return window.written(file, data.get("note", ""))


def _scale(size: Mapping[str, int]) -> list[dict[str, Any]]:
    """Tell how places in a picture that was made smaller are to be reckoned."""
    was, shown = (size["originalWidth"], size["originalHeight"]), (size["displayWidth"], size["displayHeight"])
    if was == shown:
        return []
    factor = max(was) / max(shown)
    text = f"(Shown at {shown[0]}x{shown[1]}, the original has {was[0]}x{was[1]}: multiply places by {factor:.2f}.)"
    return [{"type": "text", "text": text}]
