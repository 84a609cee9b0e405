"""Which files an installed distribution consists of, and their hashes; remembered as long as none of them changes."""

from __future__ import annotations

import json
import os
import sys
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from importlib.metadata import Distribution

Hashes: TypeAlias = dict[str, str]
"""SHA-256 of each file, by its path from the folder that the distribution is installed in."""


class FileHashes:
    """Hashes of distributions' files.

    A file with the time and size that it had is not read again; without a cache folder all are.
    """

    def __init__(self, cache_dir: Path | None) -> None:
        self._cache = cache_dir / _cache_name() if cache_dir is not None else None
        self._known = _read(self._cache) if self._cache is not None else {}
        self._changed = False

    def of(self, distribution: str, version: str, modules: Sequence[str]) -> Hashes:
        """Return the hashes of a distribution, whose plugins stand in `modules`; empty for one that is not there."""
        key = f"{distribution} {version}"
        known = self._known.get(key)
        if known is not None and known["stamps"] and all(_stamp(path) == seen for path, *seen in known["stamps"]):
            return dict(known["files"])
        files, folders = _files(distribution, modules)
        stamps = [[str(path), *_stamp(path)] for path in (*files.values(), *folders)]
        hashes = {name: _hash(path) for name, path in files.items()}
        self._known[key] = {"stamps": stamps, "files": hashes}
        self._changed = True
        return hashes

    def remember(self) -> None:
        """Keep what was found for the next start; where that can't be written it is no error."""
        if self._changed and self._cache is not None:
            with suppress(OSError):
                write_whole(self._cache, json.dumps(self._known))


def write_whole(file: Path, text: str) -> None:
    """Write a file so that a crash leaves the old one or the new one. Raises OSError."""
    file.parent.mkdir(parents=True, exist_ok=True)
    scratch = file.with_name(f"{file.name}.{os.getpid()}")
    try:
        scratch.write_text(text, encoding="utf-8")
        scratch.replace(file)
    finally:
        scratch.unlink(missing_ok=True)


def _cache_name() -> str:
    """Name the cache by where modules come from: another environment has other files of the same distributions."""
    return f"plugin-files-{zlib.crc32(json.dumps([sys.prefix, *sys.path]).encode()):08x}.json"


def _read(cache: Path) -> dict[str, Any]:
    try:
        known = json.loads(cache.read_bytes())
        return {key: value for key, value in known.items() if {"stamps", "files"} <= value.keys()}
    except (OSError, ValueError, AttributeError, RecursionError):
        return {}


def _stamp(path: str | Path) -> list[int]:
    try:
        status = os.stat(path)  # noqa: PTH116 - hundreds of these at each start
    except OSError:
        return [-1, -1]
    return [status.st_mtime_ns, status.st_size]


def _files(distribution: str, modules: Sequence[str]) -> tuple[Mapping[str, Path], list[Path]]:
    """Return the files, by their paths in the distribution, and the folders that new ones could come into."""
    from importlib import metadata

    try:
        found = metadata.distribution(distribution)
    except metadata.PackageNotFoundError:
        return {}, []
    listed = dict(_recorded(found))
    if listed:
        return dict(sorted(listed.items())), []
    files: dict[str, Path] = {}
    folders: list[Path] = []
    for module in modules:
        for root, inside in _sources(module):
            files |= {path.relative_to(root).as_posix(): path for path in inside if path.is_file()}
            folders += [path for path in inside if path.is_dir()]
    points = getattr(found, "_path", None)  # the only way to the place of a distribution without RECORD
    if points is not None:
        files["entry_points.txt"] = Path(points) / "entry_points.txt"
    return dict(sorted(files.items())), sorted(set(folders))


def _recorded(found: Distribution) -> Iterator[tuple[str, Path]]:
    """Yield what RECORD lists of a distribution that is installed whole; of one that is linked to its source, nothing."""
    if _is_linked(found):
        return
    for file in found.files or ():
        name = file.as_posix()
        if name.endswith("/entry_points.txt"):
            yield "entry_points.txt", Path(str(file.locate()))
        elif ".dist-info/" not in name and not name.startswith("..") and not name.endswith(".pyc"):
            yield name, Path(str(file.locate()))


def _is_linked(found: Distribution) -> bool:
    """Whether a distribution is an editable installation (PEP 660), by what its installer wrote down (PEP 610)."""
    try:
        origin = json.loads(found.read_text("direct_url.json") or "{}")
    except ValueError:
        return False
    folder = origin.get("dir_info", {}) if isinstance(origin, dict) else {}
    return isinstance(folder, dict) and folder.get("editable") is True


def _sources(module: str) -> Iterator[tuple[Path, list[Path]]]:
    """Yield the folder that a module's package stands in, and all that is in the package; or the module's own file."""
    from toolpost_core.plugins.discover import module_file, package_folders

    file = module_file(module)
    if file is not None:
        yield file.parent, [file]
        return
    for folder in package_folders(module):
        root = folder.parents[module.split(".").index(folder.name) if folder.name in module.split(".") else 0]
        yield root, [folder, *(path for path in sorted(folder.rglob("*")) if _counts(path.relative_to(folder)))]


def _counts(path: Path) -> bool:
    return path.suffix != ".pyc" and not any(part == "__pycache__" or part.startswith(".") for part in path.parts)


def _hash(path: Path) -> str:
    from hashlib import sha256

    try:
        return sha256(path.read_bytes()).hexdigest()
    except OSError:
        return "missing"
