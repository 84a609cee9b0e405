"""What is wrong with plugins, each with what to do about it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from toolpost import HOOKSPEC_VERSION, SettingsError
from toolpost_core.plugins.groups import KINDS
from toolpost_core.plugins.measure import BUDGET, Cost, import_costs
from toolpost_core.plugins.registry import Registry
from toolpost_core.plugins.scan import Entry
from toolpost_core.plugins.traces import own_lines
from toolpost_core.plugins.versions import allows
from toolpost_core.settings import Settings
from toolpost_core.settings.plugins import same_name

LINES: Final = 12
"""Lines of a traceback that are shown; its end says most."""


class Finding(NamedTuple):
    """One thing that is wrong: which check found it, what it is, what to do; `trace` has the plugin's own lines."""

    check: str
    text: str
    mend: str
    plugin: str = ""
    distribution: str = ""
    level: str = "error"
    trace: tuple[str, ...] = ()


def examine(registry: Registry, settings: Settings) -> Iterator[Finding]:
    """Load every plugin that is on, and look at each in turn; settings and what lies on the path come after."""
    entries = registry.inventory.entries
    costs = import_costs(entry for entry in entries if registry.state_of(entry).status == "on")
    for entry, cost in costs.items():
        if cost.broken:  # it would do the same here
            registry.give_up(entry, cost.error[0])
    for group in KINDS:
        registry.collect(group)
    collisions = list(_collisions(registry))
    told = {finding.distribution for finding in collisions}
    for entry in entries:
        state = registry.state_of(entry)
        if state.status == "failed":
            yield _failed(registry, entry, state.why)
        elif state.status == "refused" and not (entry.distribution in told and _rivals(entries, entry)):
            yield _unlocked(entry, state.why) if entry.distribution in registry.unlocked else _refused(entry, state.why)
    yield from collisions
    yield from _slow(costs)
    yield from _orphans(settings, entries)
    yield from _mistakes(settings)
    yield from _two_versions(entries)


def turn_off(entry: Entry, by_distribution: bool = False) -> str:
    """Return the command that turns a plugin off."""
    return f"`toolpost plugins disable {shlex.quote(entry.distribution if by_distribution else entry.name)}`"


def _failed(registry: Registry, entry: Entry, why: str) -> Finding:
    error = registry.error_of(entry)
    who = f"{entry.name} ({entry.group}, {entry.distribution} {entry.version})"
    if isinstance(error, SettingsError):
        mend = f"Mend its config in settings.json (`toolpost plugins info {entry.name}` shows what it takes)."
        return Finding("config", f"{who} can't use its settings: {why}", mend, entry.name, entry.distribution)
    lines = own_lines(error)[-LINES:] if error is not None else []
    wrote_it = f"its author must mend {entry.value}; until then turn it off: {turn_off(entry)}."
    is_missing = isinstance(error, ModuleNotFoundError | ImportError | AttributeError)
    again = f"Reinstall it (pip install --force-reinstall {entry.distribution}); if that does not help, "
    what = "can't be imported" if is_missing else "failed as it was loaded"
    mend = again + wrote_it if is_missing else wrote_it[0].upper() + wrote_it[1:]
    return Finding("import", f"{who} {what}: {why}", mend, entry.name, entry.distribution, trace=tuple(lines))


def _refused(entry: Entry, why: str) -> Finding:
    who = f"{entry.name} ({entry.group}, {entry.distribution} {entry.version})"
    if entry.group in KINDS and not allows(entry.requires, HOOKSPEC_VERSION):
        mend = (
            f"Update it (pip install --upgrade {entry.distribution}), or install a Toolpost whose toolpost-hookspecs "
            f"is {entry.requires}; or turn it off: {turn_off(entry)}."
        )
        return Finding("range", f"{who} was refused: {why}", mend, entry.name, entry.distribution)
    check = "kind" if entry.group not in KINDS else "refused"
    mend = (
        f"Its entry point must be in one of the groups toolpost.{{{', '.join(sorted(KINDS))}}}; update or uninstall it."
        if check == "kind"
        else f"Do what it says, or turn it off: {turn_off(entry)}."
    )
    return Finding(check, f"{who} was refused: {why}", mend, entry.name, entry.distribution)


def _unlocked(entry: Entry, why: str) -> Finding:
    text = f"{entry.name} ({entry.group}, {entry.distribution} {entry.version}) was refused: {why}"
    mend = (
        "If you meant to change it, lock again: `toolpost plugins lock`. If not, install what was locked, or turn it off: "
        f"{turn_off(entry)}."
    )
    return Finding("lock", text, mend, entry.name, entry.distribution)


def _rivals(entries: Sequence[Entry], entry: Entry) -> list[Entry]:
    return [
        e for e in entries if e is not entry and e.group == entry.group and same_name(e.name) == same_name(entry.name)
    ]


def _collisions(registry: Registry) -> Iterator[Finding]:
    """Entry points of one kind and name of which more than one would be on."""
    entries = registry.inventory.entries
    for entry in entries:
        if registry.state_of(entry).status != "refused" or not allows(entry.requires, HOOKSPEC_VERSION):
            continue
        winner = next((e for e in _rivals(entries, entry) if registry.state_of(e).status in ("on", "failed")), None)
        if winner is None:
            continue
        own = winner.distribution == entry.distribution
        text = (
            f"{entry.distribution} has two entry points {entry.name!r} in toolpost.{entry.group}: {winner.value} is "
            f"used, {entry.value} is not."
            if own
            else f"Two distributions have a plugin {entry.name!r} of the kind {entry.group}: that of "
            f"{winner.distribution} is used, that of {entry.distribution} is not."
        )
        mend = (
            "Its author must give one of them another name."
            if own
            else f"Turn one of them off: {turn_off(entry, True)} or {turn_off(winner, True)}."
        )
        yield Finding("duplicate entry point", text, mend, entry.name, entry.distribution)


def _slow(costs: Mapping[Entry, Cost]) -> Iterator[Finding]:
    for entry, cost in costs.items():
        if not cost.error and cost.seconds > BUDGET:
            text = (
                f"{entry.name} ({entry.group}, {entry.distribution} {entry.version}) takes {cost.seconds * 1000:.0f} ms "
                f"of CPU to import, with {cost.modules} modules; {BUDGET * 1000:.0f} ms are allowed."
            )
            module = entry.value.partition(":")[0]
            mend = (
                f"Each start waits for it. `python -X importtime -c 'import {module}'` says for what; its author should "
                f"import that in the function that needs it. Or turn it off: {turn_off(entry)}."
            )
            yield Finding("slow import", text, mend, entry.name, entry.distribution, "warning")


def _orphans(settings: Settings, entries: Sequence[Entry]) -> Iterator[Finding]:
    known = {same_name(name) for entry in entries for name in (entry.name, entry.distribution)}
    for name, setting in settings.plugins.items():
        if name not in known:
            where = str(setting.file or "the settings")
            text = f"{where} has an entry for the plugin {setting.key!r}, which is not installed."
            mend = f"Install it, or remove plugins.{setting.key} from {where}."
            yield Finding("orphaned setting", text, mend, setting.key, "", "warning")


def _mistakes(settings: Settings) -> Iterator[Finding]:
    for problem in settings.problems:
        check = "unknown key" if "this key is not known" in problem.text else "settings"
        where = problem.file or "the settings"
        mend = f"Mend {where}; `toolpost settings validate` looks at it again."
        yield Finding(check, problem.text, mend, problem.plugin, problem.distribution, problem.level)


def _two_versions(entries: Sequence[Entry]) -> Iterator[Finding]:
    """Distributions with plugins that lie on the path twice: Python uses the first, installers see the other too."""
    from importlib import metadata

    from toolpost_core.plugins.discover import canonical

    places: dict[str, dict[str, metadata.Distribution]] = {}
    for found in metadata.distributions():
        places.setdefault(canonical(found.name or ""), {}).setdefault(f"{found.version} {found.locate_file('')}", found)
    for name in sorted({canonical(entry.distribution) for entry in entries}):
        found_here = list(places.get(name, {}).values())
        if len(found_here) > 1:
            used, *passed = (f"{item.version} in {item.locate_file('')}" for item in found_here)
            who = found_here[0].name
            text = f"{who} is installed more than once: {used} is used, {', '.join(passed)} is not."
            mend = f"Uninstall it until it is gone (pip uninstall {who}), then install the version that you want."
            yield Finding("two versions", text, mend, "", who)
