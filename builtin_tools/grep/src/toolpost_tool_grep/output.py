"""From ripgrep's output to the structured result and the text that the model reads."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from .tool import HEAD_LIMIT

if TYPE_CHECKING:
    from .tool import GrepInput

LINE_CHARS = 500
"""Characters shown of a line, round the match in it."""

_COUNT = re.compile(rb"([^\0]+)\0(\d+)\r?\n")
_LINE = re.compile(rb"(\d+)(?::(\d+):|-)")


class Line(NamedTuple):
    """A line of a file; `column` (in bytes, from 1) is that of its first match, None for a line of context."""

    file: bytes
    number: int
    column: int | None
    text: bytes


def collect(raw: bytes, note: str, input: GrepInput, where: Path, cwd: Path) -> dict[str, Any]:
    """Order by file, skip `offset`, keep `head_limit`, and name the files from the current folder."""
    limit = HEAD_LIMIT if input.head_limit is None else input.head_limit
    shown = _Names(where, cwd)
    data: dict[str, Any] = {"mode": input.output_mode}
    if input.output_mode == "files_with_matches":
        files = sorted(raw.removesuffix(b"\0").split(b"\0")) if raw else []
        kept, cut = _page(files, input.offset or 0, limit)
        data |= {"numFiles": len(files), "filenames": [shown(file) for file in kept]}
    elif input.output_mode == "count":
        counts = sorted(_counts(raw))
        kept_counts, cut = _page(counts, input.offset or 0, limit)
        lines = [f"{shown(file)}:{count}" for file, count in kept_counts]
        matches = sum(count for _, count in counts)
        data |= {"numFiles": len(counts), "filenames": [], "content": "\n".join(lines), "numMatches": matches}
    else:
        found = sorted(_lines(raw), key=lambda line: line.file)  # stable: within a file the order is right
        kept_lines, cut = _page(found, input.offset or 0, limit)
        content = "\n".join(_content(kept_lines, shown, input))
        data |= {"numFiles": len({line.file for line in kept_lines}), "filenames": [], "content": content}
        data |= {"numLines": len(kept_lines), "total": len(found)}
    if cut:
        data["appliedLimit"] = limit
    if input.offset:
        data["appliedOffset"] = input.offset
    return data | ({"note": note} if note else {})


def written(data: Mapping[str, Any]) -> str:
    """Write a result for the model."""
    offset, limit = data.get("appliedOffset", 0), data.get("appliedLimit")
    if data["mode"] == "files_with_matches":
        total, body, what = data["numFiles"], data["filenames"], "files"
        head = [f"Found {total} file{'s' * (total != 1)}"] if total else []
    elif data["mode"] == "count":
        total, body, what = data["numFiles"], [data["content"]], "files"
        matches = data["numMatches"]
        head = [f"{matches} matching line{'s' * (matches != 1)} in {total} file{'s' * (total != 1)}"] if total else []
    else:
        total, body, what, head = data["total"], [data["content"]], "lines", []
    if not total:
        head = ["No matches found"]
    elif offset >= total:
        head = [f"No results behind offset {offset}: {total} {what if total != 1 else what[:-1]} in all"]
    tail = []
    if limit is not None:
        tail.append(
            f"({what.capitalize()} {offset + 1}-{offset + limit} of {total}. More with offset={offset + limit}.)"
        )
    if data.get("note"):
        tail.append(f"({data['note']})")
    return "\n".join(part for part in (*head, *body, *tail) if part)


class _Names:
    """Names files as the model should use them: from the current folder, or absolute where they lie outside of it."""

    def __init__(self, where: Path, cwd: Path) -> None:
        folder = where if where.is_dir() else where.parent
        try:
            prefix = os.fsencode(folder.relative_to(cwd))
        except ValueError:
            prefix = os.fsencode(folder)
        self._prefix = b"" if prefix == b"." else prefix.rstrip(b"/") + b"/"

    def __call__(self, file: bytes) -> str:
        return (self._prefix + file.removeprefix(b"./")).decode("utf-8", "backslashreplace")


def _page(items: Sequence[Any], offset: int, limit: int) -> tuple[Sequence[Any], bool]:
    end = offset + limit if limit else len(items)
    return items[offset:end], end < len(items)


def _counts(raw: bytes) -> Iterator[tuple[bytes, int]]:
    yield from ((found[1], int(found[2])) for found in _COUNT.finditer(raw))


def _lines(raw: bytes) -> Iterator[Line]:
    for line in raw.split(b"\n"):
        file, nul, rest = line.partition(b"\0")
        at = _LINE.match(rest) if nul else None
        if at:  # all else are the marks between groups, which are made anew
            column = int(at[2]) if at[2] else None
            yield Line(file, int(at[1]), column, rest[at.end() :].removesuffix(b"\r"))


def _content(lines: Sequence[Line], shown: _Names, input: GrepInput) -> Iterator[str]:
    grouped = any((input.after, input.before, input.around, input.context))
    last: Line | None = None
    name = ""
    for line in lines:
        if last is None or last.file != line.file:
            name = shown(line.file)
        if grouped and last and (last.file != line.file or line.number > last.number + 1):
            yield "--"
        mark = ":" if line.column else "-"
        number = f"{line.number}{mark}" if input.line_numbers else ""
        yield f"{name}{mark}{number}{_clipped(line)}"
        last = line


def _clipped(line: Line) -> str:
    if len(line.text) <= LINE_CHARS:
        return line.text.decode("utf-8", "replace")
    start = max((line.column or 1) - 1 - LINE_CHARS // 4, 0)
    part = line.text[start : start + LINE_CHARS]
    before, after = start, len(line.text) - start - len(part)
    text = part.decode("utf-8", "replace")
    return (f"[{before} bytes]…" if before else "") + text + (f"…[{after} bytes]" if after else "")
