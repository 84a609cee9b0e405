"""`toolpost plugins doctor --upgrade`: what another version of a distribution would come to."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from toolpost import PluginError
from toolpost_core.cli.output import print_json, print_table, print_wrapped
from toolpost_core.plugins.discover import canonical
from toolpost_core.plugins.groups import KINDS
from toolpost_core.plugins.rehearsal import Difference, hook_differences, own_differences
from toolpost_core.plugins.upgrade import Rehearsal, rehearse
from toolpost_core.plugins.wheels import unpacked

if TYPE_CHECKING:
    from toolpost_core.cli.workspace import Workspace
    from toolpost_core.plugins.scan import Entry

DEPENDENTS = ("DISTRIBUTION", "VERSION", "ALLOWS", "VERDICT", "PLUGINS")
DIFFERENCES = ("WHAT", "WHICH", "HOW", "PLUGINS THAT ARE ON")


class Looked(NamedTuple):
    """What a look into the other version found; `unread` says why there was none."""

    differences: list[Difference]
    unread: str = ""


def rehearsed(workspace: Workspace, wanted: str, wheel: Path | None, as_json: bool) -> int:
    """Print what would refuse a version and what would change with it; return 1 where something would break."""
    found = rehearse(wanted, workspace.registry.inventory.entries)
    looked = _look(workspace, found, wheel)
    refused = [dependent for dependent in found.dependents if dependent.refused]
    broken = any(one.breaks and (one.plugins or not found.is_hookspecs) for one in looked.differences)
    if as_json:
        rows = [dependent._asdict() for dependent in found.dependents]
        changed = [difference._asdict() for difference in looked.differences]
        print_json({**found._asdict(), "dependents": rows, "differences": changed, "unread": looked.unread or None})
    else:
        _print_dependents(found)
        _print_differences(found, looked)
    return 1 if refused or broken else 0


def _look(workspace: Workspace, found: Rehearsal, wheel: Path | None) -> Looked:
    """Read the wheel, where it is one of the hookspecs or of plugins.

    Of the hookspecs there is something to tell without it: who would refuse that version. Raises PluginError otherwise.
    """
    registry = workspace.registry
    own = [e for e in registry.inventory.entries if canonical(e.distribution) == canonical(found.distribution)]
    if not own and not found.is_hookspecs:
        return Looked([])
    try:
        with unpacked(found.distribution, found.version, wheel) as files:
            if found.is_hookspecs:
                return Looked(hook_differences(files, _implemented(workspace)))
            return Looked(own_differences(files, own, registry.inventory))
    except PluginError as error:
        if wheel is not None:
            raise
        if not found.is_hookspecs:
            raise PluginError(
                f"What {found.distribution} {found.version} would change is not known: {error}."
            ) from error
        return Looked([], str(error))


def _implemented(workspace: Workspace) -> dict[str, list[str]]:
    """Load what is on; return the plugins by the hooks that they implement."""
    registry, implemented = workspace.registry, dict[str, list[str]]()
    for group in KINDS:
        registry.collect(group)
    for entry in registry.inventory.entries:
        for hook in registry.hooks_of(entry):
            implemented.setdefault(hook, []).append(_name(entry))
    return implemented


def _name(entry: Entry) -> str:
    return f"{entry.group}/{entry.name}"


def _print_dependents(found: Rehearsal) -> None:
    print(f"{found.distribution} {found.version} in the place of {found.installed or 'none'}:")
    rows = [
        (d.distribution, d.version, d.range or "any", "refuses it" if d.refused else "fine", ", ".join(d.plugins))
        for d in found.dependents
    ]
    print_table(DEPENDENTS, rows, "Nothing that is installed depends on it.")
    refused = [dependent for dependent in found.dependents if dependent.refused]
    off = sum(len(dependent.plugins) for dependent in refused)
    then = f"; {off or 'no'} plugins would be off." if found.is_hookspecs else " (an installer would complain)."
    print(f"{len(refused)} of {len(rows)} would refuse it{then if refused else '.'}")
    if refused:
        names = " ".join(dependent.distribution for dependent in refused)
        print_wrapped(f"what to do: update them first: pip install --upgrade {names}")


def _print_differences(found: Rehearsal, looked: Looked) -> None:
    what = "hooks" if found.is_hookspecs else "entry points, tools and hooks"
    if looked.unread:
        print_wrapped(f"Which {what} would change is not known: {looked.unread}")
        return
    if not looked.differences and not found.is_hookspecs:
        return
    print()
    rows = [(one.what, one.name, _how(one), ", ".join(one.plugins)) for one in looked.differences]
    if found.is_hookspecs:
        print_table(DIFFERENCES, rows, "No hook would change.")
    else:
        print_table(DIFFERENCES[:3], [row[:3] for row in rows], "")


def _how(one: Difference) -> str:
    return f"BREAKS: {one.text}" if one.breaks else one.text
