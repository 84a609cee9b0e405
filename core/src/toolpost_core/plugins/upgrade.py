"""Rehearses another version of a distribution: who would refuse it, before it is installed."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from importlib import metadata
from typing import NamedTuple

from packaging.requirements import InvalidRequirement, Requirement
from packaging.version import InvalidVersion, Version

from toolpost import PluginError
from toolpost_core.plugins.discover import HOOKSPECS, canonical
from toolpost_core.plugins.scan import Entry
from toolpost_core.plugins.versions import allows


class Dependent(NamedTuple):
    """A distribution that depends on the one that would change.

    `range` is what it allows; `plugins` are its entry points as `kind/name`. `refused` says that the version is not in
    range: of toolpost-hookspecs the plugins would then be off, of another distribution an installer would complain.
    """

    distribution: str
    version: str
    range: str
    refused: bool
    plugins: tuple[str, ...]


class Rehearsal(NamedTuple):
    """What a version would come to; `installed` is the present one, empty where there is none."""

    distribution: str
    version: str
    installed: str
    dependents: tuple[Dependent, ...]

    @property
    def is_hookspecs(self) -> bool:
        """Whether it is the public API that would change: plugins out of range are then off."""
        return canonical(self.distribution) == HOOKSPECS


def rehearse(wanted: str, entries: Sequence[Entry]) -> Rehearsal:
    """Hold `DIST==VERSION` against what every installed distribution requires. Raises PluginError for what is neither."""
    name, sign, version = (part.strip() for part in wanted.partition("=="))
    try:
        Version(version)
    except InvalidVersion as error:
        said = f"{wanted!r} is no DIST==VERSION" if not sign else f"{version!r} is no version"
        raise PluginError(f"{said}. Write it as {HOOKSPECS}==2.0.") from error
    found = {canonical(item.name): item for item in metadata.distributions() if item.name}
    dependents = []
    for item in found.values():
        allowed = _range(item, canonical(name))
        if allowed is not None:
            plugins = _plugins(item.name, entries)
            dependents.append(Dependent(item.name, item.version, allowed, not allows(allowed, version), plugins))
    if canonical(name) not in found and not dependents:
        near = difflib.get_close_matches(canonical(name), found, 3)
        hint = f" Did you mean {' or '.join(near)}?" if near else ""
        raise PluginError(f"No distribution {name!r} is installed, and none depends on one.{hint}")
    here = found.get(canonical(name))
    return Rehearsal(here.name if here else name, version, here.version if here else "", tuple(sorted(dependents)))


def _range(item: metadata.Distribution, wanted: str) -> str | None:
    """The range in which a distribution allows another; None where it does not depend on it."""
    for line in item.requires or ():
        try:
            requirement = Requirement(line)
        except InvalidRequirement:
            continue
        optional = requirement.marker is not None and not requirement.marker.evaluate({"extra": ""})
        if canonical(requirement.name) == wanted and not optional:
            return str(requirement.specifier)
    return None


def _plugins(distribution: str, entries: Sequence[Entry]) -> tuple[str, ...]:
    return tuple(f"{e.group}/{e.name}" for e in entries if canonical(e.distribution) == canonical(distribution))
