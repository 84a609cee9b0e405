"""The slow way to what is installed: stevedore walks the groups, importlib.metadata knows the distributions."""

from __future__ import annotations

import re
from collections.abc import Iterable
from importlib import metadata
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from stevedore.extension import Extension, ExtensionManager

from toolpost_core.plugins.capabilities import FILE, Capabilities, embedded, parse
from toolpost_core.plugins.groups import PREFIX
from toolpost_core.plugins.scan import Entry

METAPACKAGE: Final = "toolpost"
HOOKSPECS: Final = "toolpost-hookspecs"


def discover() -> tuple[tuple[Entry, ...], dict[str, Capabilities], list[str]]:
    """Return all entries, what the modules that they name declare, and the files that all this was read from."""
    standard, files = _standard_set()
    entries: set[Entry] = set()
    declared: dict[str, Capabilities] = {}
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
                    requirements(point.dist.requires).get(HOOKSPECS, ""),
                    canonical(name) in standard,
                )
            )
            files.update(_file(point.dist, "entry_points.txt"))
    for module in {entry.module for entry in entries}:
        for file in declaring_files(module):
            files.add(str(file))  # also where it is not there: then its coming is noticed
            found = _declared(file)
            if found is not None:
                declared.setdefault(module, found)
    return tuple(sorted(entries)), declared, sorted(files)


def package_folders(module: str) -> list[Path]:
    """Return the folders of the package that a module lies in, found without running any of it.

    Of a module in a namespace package that is the first regular package on its way; a module that is no package and lies
    in none has no folder.
    """
    top, *rest = module.split(".")
    spec = _spec(top)
    folders = [Path(place) for place in (spec.submodule_search_locations or ())] if spec is not None else []
    for name in rest:
        if any((folder / "__init__.py").is_file() for folder in folders):
            break
        folders = [folder / name for folder in folders if (folder / name).is_dir()] or folders
    return folders


def module_file(module: str) -> Path | None:
    """Return the file of a module that lies in no regular package; None for one that does, or has no source."""
    folders, (top, *rest) = package_folders(module), module.split(".")
    if any((folder / "__init__.py").is_file() for folder in folders):
        return None
    if rest:
        return next((file for folder in folders if (file := folder / f"{rest[-1]}.py").is_file()), None)
    spec = _spec(top)
    origin = (spec.origin or "") if spec is not None else ""
    return Path(origin) if origin.endswith(".py") else None


def declaring_files(module: str) -> list[Path]:
    """Return the files that may say what a module's plugin needs; the first that does counts."""
    own = module_file(module)
    return [*(folder / FILE for folder in package_folders(module)[:1]), *([own] if own is not None else ())]


def _declared(file: Path) -> Capabilities | None:
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        return Capabilities(file=str(file), mistake=f"it can't be read: {error}") if file.name == FILE else None
    return parse(text, str(file)) if file.name == FILE else embedded(text, str(file))


def _spec(top: str) -> ModuleSpec | None:
    try:
        return find_spec(top)
    except (ImportError, ValueError):
        return None


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
    return set(requirements(package.requires)), set(_file(package, "METADATA"))


def requirements(lines: Iterable[str] | None) -> dict[str, str]:
    """Return the distributions that are required without an extra, each with its version specifier."""
    found: dict[str, str] = {}
    for line in lines or ():
        requirement, _, marker = line.partition(";")
        match = re.match(r"\s*([A-Za-z0-9._-]+)\s*(?:\[[^\]]*\])?\s*(.*)", requirement)
        if match and "extra" not in marker:
            specifier = match[2].strip()
            found[canonical(match[1])] = "" if specifier.startswith("@") else specifier.strip("() ")
    return found


def _file(distribution: metadata.Distribution, name: str) -> list[str]:
    folder = getattr(distribution, "_path", None)  # the only way to the place of a distribution without RECORD
    return [] if folder is None else [str(folder / name)]
