"""`toolpost plugins list`: every plugin, its state, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click

from toolpost import LaunchOptions
from toolpost_core.cli.output import print_json, print_table
from toolpost_core.cli.workspace import Workspace, open_workspace, with_options
from toolpost_core.plugins.trial import load_on_trial

if TYPE_CHECKING:
    from toolpost_core.plugins.scan import Entry

NONE: Final = "No plugin is installed, so nothing can be done. Install the standard set: pip install toolpost"
HEAD: Final = ("KIND", "NAME", "DISTRIBUTION", "VERSION", "STATE", "WHY")


@click.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@with_options
def list_(options: LaunchOptions, as_json: bool) -> None:
    """Every plugin: kind, name, distribution, version, and the one state that it is in. What is on is loaded."""
    workspace = open_workspace(options)
    registry = workspace.registry
    load_on_trial(registry, [entry for entry in registry.inventory.entries if registry.state_of(entry).status == "on"])
    rows = [facts(workspace, entry) for entry in registry.inventory.entries]
    if as_json:
        print_json(rows)
        return
    cells = [(r["kind"], r["name"], r["distribution"], r["version"], r["state"], _why(r)) for r in rows]
    print_table(HEAD, cells, NONE)


def facts(workspace: Workspace, entry: Entry) -> dict[str, Any]:
    """Return what is known of a plugin so far, without importing it."""
    state = workspace.registry.state_of(entry)
    return {
        "kind": entry.group,
        "name": entry.name,
        "distribution": entry.distribution,
        "version": entry.version,
        "standard": entry.standard,
        "declared": workspace.registry.capabilities(entry) is not None,
        "enabled": state.status == "on",
        "state": state.status,
        "why": state.why,
    }


def _why(row: dict[str, Any]) -> str:
    """Return what a person reads beside the state: nothing of what ships and is on, unless it declares nothing."""
    why = [] if row["enabled"] and row["standard"] else [row["why"]]
    return "; ".join(why if row["declared"] else [*why, "undeclared: its package does not say what it needs"])
