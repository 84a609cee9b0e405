"""`toolpost plugins doctor`: what is wrong with plugins, with what to do about it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from toolpost import LaunchOptions
from toolpost_core.cli.commands.plugins_list import NONE
from toolpost_core.cli.output import print_json, print_table, print_wrapped
from toolpost_core.cli.workspace import Workspace, open_workspace, with_options
from toolpost_core.plugins.doctor import Finding, examine
from toolpost_core.session.engine import tool_pool

if TYPE_CHECKING:
    from toolpost_core.tools.pool import Entry


@click.command()
@click.option(
    "--upgrade", metavar="DIST==VERSION", help="Say what would refuse that version, and look at nothing else."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@with_options
def doctor(options: LaunchOptions, upgrade: str | None, as_json: bool) -> int:
    """Load every plugin that is on and tell what is wrong, with what to do; exits 1 where something is."""
    workspace = open_workspace(options)
    if upgrade is not None:
        return _rehearse(workspace, upgrade, as_json)
    found = list(dict.fromkeys((*examine(workspace.registry, workspace.settings), *_tools(workspace))))
    count = len(workspace.registry.inventory.entries)
    if as_json:
        print_json([finding._asdict() for finding in found])
    elif not count:
        print(NONE)
    else:
        for finding in found:
            _print(finding)
        print(f"{count} plugins, {len(found) or 'no'} {'problem' if len(found) == 1 else 'problems'}.")
    return 1 if found or not count else 0


def _print(finding: Finding) -> None:
    print_wrapped(f"{finding.level}: {finding.check}: {finding.text}")
    for line in finding.trace:
        print(f"    | {line}")
    print_wrapped(f"what to do: {finding.mend}", indent=2)
    print()


def _tools(workspace: Workspace) -> Iterator[Finding]:
    """Tools of one name, tools that settings hide, and tools that can't be offered."""
    options: dict[str, Any] = {"tools": None, "interactive": False}
    pool = tool_pool(workspace.registry, workspace.settings.rules, None, options, lambda _: None)
    for absent in pool.absent:
        entry, why = absent.entry, absent.why
        rival = pool.find(entry.tool.name)
        if rival is not None and rival.tool is not entry.tool:
            if rival.tool.overrides not in (entry.plugin, entry.distribution):
                yield _collision(entry, rival)
            continue
        who = f"The tool {entry.tool.name} of {entry.plugin} ({entry.distribution})"
        off = f"`toolpost plugins disable {entry.plugin}`"
        if why.startswith("denied by the rule"):
            mend = f"Remove that rule if the model is to have the tool; if not, turn the plugin off: {off}."
            yield Finding("hidden tool", f"{who} is hidden: {why}.", mend, entry.plugin, entry.distribution, "warning")
        elif "can't work here" not in why:
            mend = f"Its author must mend it; until then turn it off: {off}."
            yield Finding("tool", f"{who} is left out: {why}.", mend, entry.plugin, entry.distribution)


def _collision(loser: Entry, winner: Entry) -> Finding:
    text = (
        f"Two plugins offer a tool {loser.tool.name}: that of {winner.plugin} ({winner.distribution}) is used, that of "
        f"{loser.plugin} ({loser.distribution}) is not."
    )
    mend = (
        f"Turn one of them off: `toolpost plugins disable {loser.plugin}` or `toolpost plugins disable {winner.plugin}`. "
        f"If {winner.distribution} is meant to replace it, its tool must say overrides={loser.distribution!r}."
    )
    return Finding("tool name collision", text, mend, loser.plugin, loser.distribution)


def _rehearse(workspace: Workspace, wanted: str, as_json: bool) -> int:
    from toolpost_core.plugins.upgrade import rehearse

    found = rehearse(wanted, workspace.registry.inventory.entries)
    refused = [dependent for dependent in found.dependents if dependent.refused]
    if as_json:
        print_json({**found._asdict(), "dependents": [dependent._asdict() for dependent in found.dependents]})
        return 1 if refused else 0
    print(f"{found.distribution} {found.version} in the place of {found.installed or 'none'}:")
    rows = [
        (d.distribution, d.version, d.range or "any", _verdict(d.refused), ", ".join(d.plugins))
        for d in found.dependents
    ]
    print_table(
        ("DISTRIBUTION", "VERSION", "ALLOWS", "VERDICT", "PLUGINS"), rows, "Nothing that is installed depends on it."
    )
    off = sum(len(dependent.plugins) for dependent in refused)
    then = f"; {off or 'no'} plugins would be off." if found.is_hookspecs else " (an installer would complain)."
    print(f"{len(refused)} of {len(rows)} would refuse it{then if refused else '.'}")
    if refused:
        print_wrapped(
            f"what to do: update them first: pip install --upgrade {' '.join(d.distribution for d in refused)}"
        )
    return 1 if refused else 0


def _verdict(refused: bool) -> str:
    return "refuses it" if refused else "fine"
