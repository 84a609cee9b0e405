"""One settings document: strict JSON, and where in its text each value stands."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import field
from functools import cached_property
from pathlib import Path
from typing import Any, Final, NoReturn

from toolpost._frozen import frozen
from toolpost_core.settings.lines import Position, positions

MAX_BYTES: Final = 2 * 1024 * 1024


class Unusable(ValueError):
    """Raised when a text is no settings document; says where and why."""


@frozen()
class Document:
    """A document of one level; `file` None where it came from the command line or a program.

    `repeated` are the keys that stand more than once in their object.
    """

    level: str
    values: Mapping[str, Any]
    file: Path | None = None
    text: str = field(default="", repr=False)
    repeated: tuple[str, ...] = ()

    @cached_property
    def lines(self) -> Mapping[Position, int]:
        """The line of each value, by its path of keys and indexes; empty where there is no text."""
        return positions(self.text) if self.text else {}

    def line(self, *path: str | int) -> int | None:
        """Return the line of a value, or of what holds it."""
        return next((self.lines[path[:end]] for end in range(len(path), 0, -1) if path[:end] in self.lines), None)

    def at(self, *path: str | int) -> str:
        """Name a place for a message: file, line, key."""
        line = self.line(*path)
        where = str(self.file) if self.file else f"settings ({self.level})"
        return f"{where}{f', line {line}' if line else ''}: {dotted(path)}"

    def with_values(self, values: Mapping[str, Any]) -> Document:
        """Return the document with other values at the same places."""
        return Document(self.level, values, self.file, self.text, self.repeated)


def dotted(path: tuple[str | int, ...]) -> str:
    """Write a path of keys and indexes as `permissions.deny[2]`."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).lstrip(".")


def read_document(level: str, file: Path) -> Document | None:
    """Read a file; None where there is none. Raises Unusable."""
    try:
        raw = file.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise Unusable(f"{file}: it can't be read: {error.strerror or error}") from error
    if len(raw) > MAX_BYTES:
        raise Unusable(f"{file}: it has {len(raw):,} bytes; {MAX_BYTES:,} are allowed")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise Unusable(f"{file}, line {line}: it is not UTF-8") from error
    return parse_document(level, text, file)


def parse_document(level: str, text: str, file: Path | None = None) -> Document:
    """Parse strict JSON. Raises Unusable, naming line and column."""
    where = str(file) if file else f"settings ({level})"
    repeated: list[str] = []

    def noting(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        values = dict(pairs)
        if len(values) < len(pairs):
            keys = [key for key, _ in pairs]
            repeated.extend(key for key in values if keys.count(key) > 1)
        return values

    try:
        values = json.loads(text, parse_constant=_no_constant, object_pairs_hook=noting)
    except json.JSONDecodeError as error:
        place = f"{where}, line {error.lineno}, column {error.colno}"
        raise Unusable(f"{place}: it is not JSON: {error.msg}{_hint(text, error)}") from error
    except (ValueError, RecursionError) as error:
        raise Unusable(f"{where}: it is not JSON: {error}") from error
    if not isinstance(values, dict):
        raise Unusable(
            f"{where}, line 1: settings are one JSON object, such as {{}}; this is a {type(values).__name__}"
        )
    return Document(level, values, file, text, tuple(repeated))


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not allowed")


def _hint(text: str, error: json.JSONDecodeError) -> str:
    rest = text[error.pos :].lstrip()
    if rest.startswith(("//", "/*", "#")):
        return ". Comments are not allowed"
    before = text[: error.pos].rstrip()
    return ". Remove the comma before it" if rest[:1] in ("}", "]") and before.endswith(",") else ""
