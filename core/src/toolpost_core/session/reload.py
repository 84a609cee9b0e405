"""Noticing that settings files changed, and what of a change a session takes over."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from toolpost import on
from toolpost_core.settings.effective import own_files
from toolpost_core.settings.places import managed_files

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from toolpost_core.events.dispatch import Dispatcher
    from toolpost_core.plugins.registry import Registry
    from toolpost_core.session.parts import Places
    from toolpost_core.settings import Settings

SOURCES = {"local": "local_settings", "project": "project_settings", "user": "user_settings"}


@dataclass(frozen=True)
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


def difference(old: Registry, new: Registry) -> list[str]:
    """Return which plugins went on and off, one text each."""
    before, after = _on(old), _on(new)
    return [f"{name} is on" for name in sorted(after - before)] + [f"{name} is off" for name in sorted(before - after)]


def _on(registry: Registry) -> set[str]:
    return {f"{e.group}/{e.name}" for e in registry.inventory.entries if registry.state_of(e).status == "on"}


def _stamp(file: Path) -> tuple[int, int] | None:
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size
