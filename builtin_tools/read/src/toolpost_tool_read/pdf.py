"""PDFs: a short one as a whole, of a longer one the pages asked for."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolpost import ToolFailed

if TYPE_CHECKING:
    from toolpost import ToolContext

MOST_PAGES = 20
"""Pages a call."""
MOST_WHOLE = 10
"""Pages of a document that is sent without being asked for pages: each may cost some 2000 tokens."""
SECONDS = 60.0
MOST_OUTPUT = 30_000_000
SIDES = ((10, 1100), (MOST_PAGES, 800))
"""Up to how many pages a page's picture has how many pixels on its long side: about 1200 and 650 tokens each."""


def page_range(text: str) -> tuple[int, int | None] | str:
    """Read "3", "1-5" or "7-" (to the end, None); a string says what is wrong with it."""
    found = re.fullmatch(r"\s*(\d{1,6})\s*(?:(-)\s*(\d{1,6})?)?\s*", text)
    if found is None:
        return f'pages {text!r} is no range of pages; give one such as "3" or "1-5".'
    first = int(found[1])
    last = int(found[3]) if found[3] else None if found[2] else first
    if first < 1 or (last is not None and last < first):
        return f'pages {text!r} is empty or begins before page 1; give a range such as "1-5".'
    if last is not None and last - first >= MOST_PAGES:
        return f"pages {text!r} are {last - first + 1}, at most {MOST_PAGES} a call; read them in several calls."
    return first, last


async def count(path: Path, ctx: ToolContext) -> int | None:
    """Return the number of pages; None for what the PDF library can't open."""
    rows = await _run(path, 1, 0, 1, ctx)
    return rows[0].get("pages") if rows else None


async def pages(path: Path, wanted: tuple[int, int | None], ctx: ToolContext) -> dict[str, Any]:
    """Return text and, for a model that takes it, picture of each page; raises ToolFailed where there are none."""
    first, last = wanted[0], wanted[1] or wanted[0] + MOST_PAGES - 1
    side = next(side for most, side in SIDES if last - first < most) if ctx.options.images else 0
    head, *found = await _run(path, first, last, side, ctx) or [{"error": "the PDF library gave no answer"}]
    if "error" in head:
        raise ToolFailed(f"{path} can't be read as a PDF: {head['error']}")
    if not found:
        raise ToolFailed(f"{path} has {head['pages']} pages; there is no page {first}.")
    total, end = head["pages"], found[-1]["page"]
    return {
        "type": "parts",
        "file": {"filePath": str(path), "count": len(found), "totalPages": total, "pages": found},
        "note": f"(Pages {first}-{end} of {total}.{' Read on with pages.' if end < total else ''})",
    }


def too_long(path: Path, total: int) -> ToolFailed:
    """Say how a document that is too long to be sent whole is read."""
    return ToolFailed(
        f'{path} has {total} pages, too many at once. Give pages, such as "1-5", at most {MOST_PAGES} a call.'
    )


def too_big(path: Path, total: int, size: str) -> ToolFailed:
    """Say how a document of few pages and many bytes is read."""
    return ToolFailed(f'{path} has {size}, too much to send whole. Give pages, such as "1-{total}".')


def blocks(data: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return what the model reads: each page's text, then its picture, if there is one."""
    made: list[dict[str, Any]] = []
    for page in data["file"]["pages"]:
        text = page["text"].replace("\r\n", "\n").strip() or "(no text on this page)"
        made.append({"type": "text", "text": f"<page number={page['page']}>\n{text}\n</page>"})
        if page["image"]:
            source = {"type": "base64", "media_type": "image/jpeg", "data": page["image"]}
            made.append({"type": "image", "source": source})
    return [*made, {"type": "text", "text": data["note"]}]


async def _run(path: Path, first: int, last: int, side: int, ctx: ToolContext) -> list[dict[str, Any]]:
    program = str(Path(__file__).with_name("pdf_pages.py"))
    with await ctx.files.open(path) as file:
        found = os.fstat(file.fileno())
    numbers = (first, last, side, found.st_dev, found.st_ino)
    argv = [sys.executable, "-I", program, str(path), *map(str, numbers)]
    ended = await ctx.processes.run(
        argv, cwd=path.parent, env=ctx.env or None, timeout=SECONDS, max_output=MOST_OUTPUT, abort=ctx.abort
    )
    lines = ended.output.split(b"\n")[:-1]  # a last line that is not whole was cut off
    rows: list[dict[str, Any]] = [json.loads(line) for line in lines]
    if ended.timed_out and len(rows) < 2:
        raise ToolFailed(f"{path} could not be laid out within {SECONDS:g} s; ask for fewer pages.")
    return rows
