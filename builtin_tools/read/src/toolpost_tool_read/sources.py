"""Reading a file by what its bytes are: a picture, a PDF, a notebook or text."""

from __future__ import annotations

import asyncio
import base64
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolpost import FileRecord, ToolFailed

from . import refuse, window

if TYPE_CHECKING:
    import os

    from toolpost import ToolContext

    from .tool import ReadInput

HEAD = 8_192
"""Bytes looked at to tell what a file holds."""
CONTROLS = bytes({*range(32), 127} - set(b"\t\n\r\f\b\x1b"))
"""Characters that texts hardly hold: what is full of them is binary, even without a NUL."""
LARGE = 4
"""How many times as much text a call may bring that says so."""


async def read(
    path: Path, input: ReadInput, found: os.stat_result, ctx: ToolContext
) -> tuple[dict[str, Any], FileRecord]:
    """Return the structured output and what the session is to remember; raises OSError, ToolFailed."""
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
        _require_range(path, input, found, ctx)
        if not _is_wide(head):
            return await _big(path, input, found, ctx)
    return await _text(path, input, ctx)


async def _picture(path: Path, found: os.stat_result, ctx: ToolContext) -> tuple[dict[str, Any], FileRecord]:
    from . import picture, shrink

    if not ctx.options.images:
        raise ToolFailed(
            f"{path} is a picture, and the model in use takes none. Use Bash with a program that reads it."
        )
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
    if not ctx.options.documents or not picture.is_whole_pdf(whole):
        return await pdf.pages(path, (1, None), ctx), _record(whole, found)
    encoded = base64.b64encode(whole).decode("ascii")
    file = {"filePath": str(path), "base64": encoded, "originalSize": len(whole)}
    return {"type": "pdf", "file": file}, _record(whole, found)


def _refuse_binary(path: Path, head: bytes, found: os.stat_result) -> None:
    controls = len(head) - len(head.translate(None, CONTROLS))
    if not _is_wide(head) and (b"\0" in head or controls * 10 > len(head)):
        size = refuse.in_megabytes(found.st_size)
        raise ToolFailed(
            f"{path} is a binary file ({size}), which Read does not show. "
            "Use Bash with a program that knows the format, such as file, xxd or strings."
        )


def _is_wide(head: bytes) -> bool:
    """Whether it is UTF-16 or UTF-32, by its mark or by NULs on one side of most pairs and none on the other."""
    if head.startswith((b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")):
        return True
    sides = sorted((head[::2].count(0), head[1::2].count(0)))
    return sides[0] == 0 and sides[1] * 10 >= len(head) // 2 * 7


def _require_range(path: Path, input: ReadInput, found: os.stat_result, ctx: ToolContext) -> None:
    if input.offset is None and input.limit is None and not input.allow_large:
        raise ToolFailed(
            f"{path} has {refuse.in_megabytes(found.st_size)}; at once Read takes "
            f"{refuse.in_megabytes(ctx.limits.read_max_bytes)}. Give offset and limit, or search it with Grep."
        )


async def _big(
    path: Path, input: ReadInput, found: os.stat_result, ctx: ToolContext
) -> tuple[dict[str, Any], FileRecord]:
    """Read a part of a file that is too big to hold."""
    start, limit = _range(input)
    file = await ctx.files.open(path)
    shown = await asyncio.to_thread(window.of_big_file, file, start, limit, _room(input, ctx))
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
    if path.suffix.lower() == ".ipynb":
        from . import notebook

        try:
            cells = notebook.parse_cells(loaded.text, pictures=ctx.options.images)
            return {"type": "notebook", "file": {"filePath": str(path), "cells": cells}}, record
        except ValueError as error:
            note = f"This is not a valid notebook ({error}); its text follows."
    else:
        note = ""
    start, limit = _range(input)
    shown = window.of_text(loaded.text, start, limit, _room(input, ctx))
    return _text_data(path, shown, note), replace(record, partial=shown.partial)


def _range(input: ReadInput) -> tuple[int, int]:
    return max(input.offset or 1, 1), input.limit or window.LINES


def _room(input: ReadInput, ctx: ToolContext) -> int:
    """Return the tokens that the text may have."""
    return ctx.limits.read_max_tokens * (LARGE if input.allow_large else 1)


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
