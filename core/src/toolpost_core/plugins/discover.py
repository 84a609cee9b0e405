"""The slow way to what is installed: stevedore walks the groups, importlib.metadata knows the distributions."""

from __future__ import annotations

import re
from importlib import metadata
from typing import Any, Final

from stevedore.extension import Extension, ExtensionManager

from toolpost_core.plugins.groups import PREFIX
from toolpost_core.plugins.scan import Entry

METAPACKAGE: Final = "toolpost"
HOOKSPECS: Final = "toolpost-hookspecs"


def discover() -> tuple[tuple[Entry, ...], list[str]]:
    """Return all entries and the files that they were read from."""
    standard, files = _standard_set()
    entries: set[Entry] = set()
    points = metadata.entry_points()
    for group in sorted(group for group in points.groups if group.startswith(PREFIX)):
        for extension in _Listing(group, list(points.select(group=group))).extensions:
            point = extension.entry_point
            if point.dist is None:
                continue
            name = point.dist.name
            entries.add(
                Entry(
                    group.removeprefix(PREFIX),
                    point.name,
                    point.value,
                    name,
                    point.dist.version,
                    _requirements(point.dist).get(HOOKSPECS, ""),
                    canonical(name) in standard,
                )
            )
            files.update(_file(point.dist, "entry_points.txt"))
    return tuple(sorted(entries)), sorted(files)


def canonical(name: str) -> str:
    """Return a distribution's name as indexes compare it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


class _Listing(ExtensionManager[Any]):
    """Lists a group and imports nothing of it.

    The entry points are handed in: stevedore's own cache keeps times of change to some two minutes only.
    """

    def __init__(self, group: str, points: list[metadata.EntryPoint]) -> None:
        self._points = points
        super().__init__(group)

    def list_entry_points(self) -> list[metadata.EntryPoint]:
        return self._points

    def _load_one_plugin(self, ep: metadata.EntryPoint, *_: Any) -> Extension[Any]:
        return Extension(ep.name, ep, object, None)


def _standard_set() -> tuple[set[str], set[str]]:
    try:
        package = metadata.distribution(METAPACKAGE)
    except metadata.PackageNotFoundError:
        return set(), set()
    return set(_requirements(package)), set(_file(package, "METADATA"))


def _requirements(distribution: metadata.Distribution) -> dict[str, str]:
    """Distributions that are required without an extra, each with its version specifier."""
    found: dict[str, str] = {}
    for line in distribution.requires or ():
        requirement, _, marker = line.partition(";")
        match = re.match(r"\s*([A-Za-z0-9._-]+)\s*(?:\[[^\]]*\])?\s*(.*)", requirement)
        if match and "extra" not in marker:
            specifier = match[2].strip()
            found[canonical(match[1])] = "" if specifier.startswith("@") else specifier.strip("() ")
    return found


def _file(distribution: metadata.Distribution, name: str) -> list[str]:
    folder = getattr(distribution, "_path", None)  # the only way to the place of a distribution without RECORD
    return [] if folder is None else [str(folder / name)]
