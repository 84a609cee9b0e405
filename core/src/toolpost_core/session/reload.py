"""Noticing that settings files changed, and what of a change a session takes over."""

from __future__ import annotations

import importlib
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from toolpost import SettingsError, on
from toolpost._frozen import frozen
from toolpost_core.plugins.groups import APART
from toolpost_core.plugins.listening import OF_SETTINGS
from toolpost_core.settings.effective import own_files
from toolpost_core.settings.places import managed_files

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from toolpost_core.events.dispatch import Dispatcher
    from toolpost_core.plugins.registry import Registry
    from toolpost_core.plugins.scan import Entry
    from toolpost_core.session.parts import Parts, Places
    from toolpost_core.settings import Settings

SOURCES = {"local": "local_settings", "project": "project_settings", "user": "user_settings"}


class KeptError(SettingsError):
    """Raised where a session keeps the settings and plugins that it had."""


@frozen()
class Stamps:
    """The settings files of a session with the time and size that each had; None for one that was not there."""

    of: Mapping[Path, tuple[int, int] | None]
    sources: Mapping[Path, str]

    @classmethod
    def now(cls, places: Places, env: Mapping[str, str]) -> Stamps:
        """Look at the files."""
        own = own_files(places.project, places.config_dir)
        sources = dict.fromkeys(managed_files(env), "policy_settings")
        sources |= {file: SOURCES[level] for level, file in own.items()}
        return cls({file: _stamp(file) for file in sources}, sources)

    def changed(self, now: Stamps) -> list[Path]:
        """Return the files that are not as they were."""
        return [file for file, stamp in now.of.items() if self.of.get(file) != stamp]


def read_anew(parts: Parts) -> tuple[Settings, Registry, list[str]]:
    """Read settings and plugins; return them with what is wrong of which nobody was told yet."""
    importlib.invalidate_caches()
    with _held_back(parts.notices) as heard:
        settings, registry = parts.reread()
    known = {problem.text for problem in (*parts.settings.problems, *parts.registry.problems)}
    return settings, registry, [text for text in heard if text not in known]


async def blocked(changed: Sequence[Path], stamps: Stamps, events: Dispatcher) -> str | None:
    """Tell ConfigChange listeners; return why the change is not to be taken over, if one says so. Policy always is."""
    if not events.hears("config_change"):
        return None
    from toolpost.events.session import ConfigChange

    for file in changed:
        source: Any = stamps.sources[file]
        emission = await events.emit(on.config_change, ConfigChange(source=source, file_path=file))
        if source == "policy_settings":
            continue
        if emission.failure is not None:
            return emission.failure
        if emission.outcome is not None and emission.outcome.block:
            return emission.outcome.reason or "a ConfigChange hook said no"
    return None


def unusable(old: Settings, new: Settings) -> list[str]:
    """Return what is wrong now that was right before: a file in the middle of an edit, or with a value of a wrong kind."""
    known = {problem.text for problem in old.problems}
    return [problem.text for problem in new.problems if problem.level == "error" and problem.text not in known]


def turned(parts: Parts, new: Registry) -> list[str]:
    """Load what is on now and was not; return which plugins went on, could not be loaded, and went off, one text each.

    One that could not be loaded before is named again only when it can.
    """
    before, after = {_name(entry) for entry in _on(parts.registry)}, {_name(entry): entry for entry in _on(new)}
    on_now = [_turned_on(after[name], parts, new) for name in sorted(after.keys() - before)]
    return [*filter(None, on_now), *(f"{name} is off" for name in sorted(before - after.keys()))]


def made_anew(old: Parts, new: Parts) -> set[str]:
    """Return the plugins that are not what they were, by the names that they are registered under.

    These were off, have another version, or settings say something else of them. What listens for the settings is
    something else under other settings. Files that changed do not count: they are read by the next start.
    """
    before = {entry: old.registry.setting_of(entry) for entry in _on(old.registry)}
    there = _on(new.registry)
    changed = {_name(e) for e in there if e not in before or before[e] != new.registry.setting_of(e)}
    other_settings = old.settings.values != new.settings.values
    listening = {_name(entry) for entry in there} if other_settings else changed
    return changed | {f"{name}{OF_SETTINGS}" for name in listening}


def _turned_on(entry: Entry, parts: Parts, new: Registry) -> str:
    name, is_old = _name(entry), entry.module in sys.modules
    if entry.group in APART:
        return f"{name} is on from the next start"
    known = len(new.problems)
    with _held_back(parts.notices):
        state = new.load(entry)
    parts.notices.extend(problem.text for problem in new.problems[known:] if problem.level != "error")
    if state.status == "on":
        again = " again, with the code that was imported before: changes of its files count when toolpost starts anew"
        return f"{name} is on{again if is_old else ''}"
    if parts.registry.state_of(entry).status == "failed":
        return ""
    missing = isinstance(new.error_of(entry), ImportError)
    then = ". If it was installed while this session ran, start toolpost anew" if missing else ""
    return f"{name} could not be loaded: {state.why}{then}"


def beside_rules(settings: Settings) -> dict[str, Any]:
    """Return what settings say of anything but permissions."""
    return {name: value for name, value in settings.values.items() if name != "permissions"}


@contextmanager
def _held_back(notices: list[str]) -> Iterator[list[str]]:
    """Keep what a block adds to the notices out of them; the list that is lent has it when the block has ended."""
    before, held = len(notices), list[str]()
    try:
        yield held
    finally:
        held += notices[before:]
        del notices[before:]


def _on(registry: Registry) -> list[Entry]:
    return [entry for entry in registry.inventory.entries if registry.state_of(entry).status == "on"]


def _name(entry: Entry) -> str:
    return f"{entry.group}/{entry.name}"


def _stamp(file: Path) -> tuple[int, int] | None:
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size
