"""The project's lock: which plugins were looked at, and whether they are still the same."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from toolpost import SettingsError
from toolpost_core.plugins.enabling import Enabling
from toolpost_core.plugins.files import FileHashes, write_whole
from toolpost_core.plugins.groups import GUARDS
from toolpost_core.plugins.scan import Entry, Inventory
from toolpost_core.settings.plugins import PluginSettings

AGAIN: Final = "Look at what changed, then lock again: toolpost plugins lock"


class Locked(NamedTuple):
    """What is locked of one distribution; `capabilities` is None where it declares none."""

    version: str
    requires: str
    capabilities: Mapping[str, Any] | None
    files: Mapping[str, str]

    def difference(self, now: Locked) -> list[str]:
        """Return what is no longer as it is here, one text a thing."""
        told = [] if self.version == now.version else [f"version {self.version} is now {now.version}"]
        if self.requires != now.requires:
            was, is_now = self.requires or "any version", now.requires or "any version"
            told.append(f"it was made for toolpost-hookspecs {was}, and is now for {is_now}")
        told += capability_changes(self.capabilities, now.capabilities)
        for name in sorted({*self.files, *now.files}):
            before, after = self.files.get(name), now.files.get(name)
            if before != after:
                word = "is new" if before is None else "is gone" if after in (None, "missing") else "changed"
                told.append(f"{name} {word}")
        return told


def lock_file(project: Path) -> Path:
    """Return where a project's lock lies."""
    return project / ".toolpost" / "plugins.lock"


def current(entries: Iterable[Entry], inventory: Inventory, hashes: FileHashes) -> dict[str, Locked]:
    """Return what there is to lock of the distributions of entries."""
    by_distribution: dict[str, list[Entry]] = {}
    for entry in entries:
        by_distribution.setdefault(entry.distribution, []).append(entry)
    found: dict[str, Locked] = {}
    for name, own in sorted(by_distribution.items()):
        declared = [d for entry in own if (d := inventory.capabilities(entry)) is not None]
        modules = sorted({entry.module for entry in own})
        found[name] = Locked(
            own[0].version,
            own[0].requires,
            _together(d.as_values() for d in declared) if declared else None,
            hashes.of(name, own[0].version, modules),
        )
    return found


def wanted(inventory: Inventory, settings: PluginSettings) -> list[Entry]:
    """Return the entries that are on where no lock is asked."""
    enabling = Enabling(inventory, settings)
    return [entry for entry in inventory.entries if enabling.state_of(entry).status == "on"]


def write(file: Path, locked: Mapping[str, Locked]) -> None:
    """Write a lock. Raises SettingsError, and then leaves the old one."""
    plugins = {name: one._asdict() for name, one in locked.items()}
    try:
        write_whole(file, json.dumps({"format": 1, "plugins": plugins}, indent=2, sort_keys=True) + "\n")
    except OSError as error:
        raise SettingsError(f"The lock {file} can't be written: {error.strerror}.") from error


def read(file: Path) -> dict[str, Locked]:
    """Read a lock. Raises SettingsError."""
    try:
        content = json.loads(file.read_bytes())
        if content["format"] != 1:
            raise ValueError(f"it has the format {content['format']!r}, and this Toolpost reads 1")
        return {name: Locked(**one) for name, one in content["plugins"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise SettingsError(
            f"The lock {file} can't be read ({error}). Restore it, or write it anew: toolpost plugins lock"
        ) from error


def differences(locked: Mapping[str, Locked], now: Mapping[str, Locked]) -> dict[str, list[str]]:
    """Return what is different by distribution, for all that is on now."""
    found: dict[str, list[str]] = {}
    for name, one in now.items():
        told = locked[name].difference(one) if name in locked else ["it is not in the lock"]
        if told:
            found[name] = told
    return found


def refusals(
    project: Path, inventory: Inventory, settings: PluginSettings, cache_dir: Path, *, trusted: bool
) -> dict[str, str]:
    """Return why distributions are refused that are on and not as the project's lock has them.

    A project that is not trusted can't have what may hold a call back refused.
    """
    file, entries = lock_file(project), wanted(inventory, settings)
    guards = set() if trusted else {entry.distribution for entry in entries if entry.group in GUARDS}
    try:
        locked = read(file)
    except SettingsError as error:
        return {entry.distribution: str(error) for entry in entries if entry.distribution not in guards}
    hashes = FileHashes(cache_dir)
    found = differences(locked, current(entries, inventory, hashes))
    hashes.remember()
    return {name: f"{_few(told)} ({file}). {AGAIN}" for name, told in found.items() if name not in guards}


def _few(told: list[str]) -> str:
    more = f" and {len(told) - 3} more" if len(told) > 3 else ""
    return f"it is not what was locked: {'; '.join(told[:3])}{more}"


def _together(declared: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Join what several packages of a distribution declare: the same value, or a list of the values."""
    joined: dict[str, Any] = {}
    for one in declared:
        for key, value in one.items():
            if key not in joined or joined[key] == value:
                joined[key] = value
            elif isinstance(value, dict):
                joined[key] = {**joined[key], **value}
            elif isinstance(value, list):
                joined[key] = sorted({*joined[key], *value})
            else:
                joined[key] = max(joined[key], value)
    return joined


def capability_changes(before: Mapping[str, Any] | None, after: Mapping[str, Any] | None) -> Iterator[str]:
    """Say what is different of what two versions declare; None is one that declares nothing."""
    if (before is None) != (after is None):
        yield "it declares its capabilities now" if before is None else "it no longer declares its capabilities"
    old, new = before or {}, after or {}
    for key in sorted({*old, *new}):
        if old.get(key) != new.get(key):
            said = [json.dumps(value[key]) if key in value else "nothing" for value in (old, new)]
            yield f"capability {key}: {said[0]} is now {said[1]}"
