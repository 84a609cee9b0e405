"""What is installed: every `toolpost.*` entry point, from a cache that is good as long as nothing was installed."""

from __future__ import annotations

import json
import os
import sys
import zlib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from toolpost_core.plugins.capabilities import Capabilities, from_row

FORMAT: Final = 3


class Entry(NamedTuple):
    """One entry point.

    `group` has no `toolpost.` prefix. `requires` is the distribution's specifier on toolpost-hookspecs, empty if it
    states none. `standard` says that the metapackage `toolpost` depends on the distribution.
    """

    group: str
    name: str
    value: str
    distribution: str
    version: str
    requires: str
    standard: bool

    @property
    def module(self) -> str:
        """The module that the entry names."""
        return self.value.split("[")[0].partition(":")[0].strip()


class Inventory(NamedTuple):
    """The entries of everything that is installed, by group, name and distribution.

    `declared` holds the capabilities of each module that an entry names, where its package declares any.
    """

    entries: tuple[Entry, ...]
    from_cache: bool = False
    declared: Mapping[str, Capabilities] = MappingProxyType({})

    def capabilities(self, entry: Entry) -> Capabilities | None:
        """Return what an entry's package declares; None where it declares nothing."""
        return self.declared.get(entry.module)


def scan(cache_dir: Path) -> Inventory:
    """Return what is installed.

    The cache is keyed by the interpreter and by the folders of `sys.path` with the times of their last change. One that
    is damaged is made anew; one that can't be written is no error.
    """
    key = _key()
    cache = cache_dir / f"entry-points-{zlib.crc32(json.dumps([part[0] for part in key]).encode()):08x}.json"
    found = _read(cache, key)
    if found is not None:
        return found
    from toolpost_core.plugins.discover import discover

    entries, declared, files = discover()
    stamps = [[file, _changed(file)] for file in files]
    _write(cache, {"key": key, "files": stamps, "entries": entries, "declared": declared})
    return Inventory(entries, declared=MappingProxyType(declared))


def _key() -> list[list[Any]]:
    """Interpreter and folders, each with a time of last change, in nanoseconds."""
    interpreter = [f"{FORMAT} {sys.implementation.cache_tag} {sys.prefix}", 0]
    return [interpreter, *([folder, _changed(folder)] for folder in sys.path)]


def _changed(path: str) -> int:
    try:
        return os.stat(path or ".").st_mtime_ns  # noqa: PTH116 - dozens of these at each start
    except (OSError, ValueError):
        return -1


def _read(cache: Path, key: list[list[Any]]) -> Inventory | None:
    try:
        stored = json.loads(cache.read_bytes())
        if stored["key"] != key or any(_changed(file) != changed for file, changed in stored["files"]):
            return None
        entries = tuple(
            Entry(*(kind(field) for kind, field in zip(_FIELDS, row, strict=True))) for row in stored["entries"]
        )
        declared = {module: from_row(row) for module, row in stored["declared"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    return Inventory(entries, from_cache=True, declared=MappingProxyType(declared))


_FIELDS: Final = (str, str, str, str, str, str, bool)


def _write(cache: Path, content: dict[str, Any]) -> None:
    scratch = cache.with_name(f"{cache.name}.{os.getpid()}")
    with suppress(OSError):
        cache.parent.mkdir(parents=True, exist_ok=True)
        try:
            scratch.write_text(json.dumps(content), encoding="utf-8")
            scratch.replace(cache)
        finally:
            scratch.unlink(missing_ok=True)
