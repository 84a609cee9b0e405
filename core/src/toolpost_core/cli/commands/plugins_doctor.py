"""`toolpost plugins doctor`: what is wrong with plugins, with what to do about it."""

from __future__ import annotations

import click

from toolpost import LaunchOptions
from toolpost_core.cli.commands.plugins_list import NONE
from toolpost_core.cli.output import print_json
from toolpost_core.cli.workspace import open_workspace, with_options
from toolpost_core.plugins.groups import KINDS


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@with_options
def doctor(options: LaunchOptions, as_json: bool) -> int:
    """Load every plugin that is on and tell what is wrong; exits 1 where something is."""
    workspace = open_workspace(options)
    for group in KINDS:
        workspace.registry.collect(group)
    found = list(dict.fromkeys((*workspace.registry.problems, *(p for p in workspace.problems if p.plugin))))
    if as_json:
        print_json(
            [{"plugin": p.plugin, "distribution": p.distribution, "level": p.level, "text": p.text} for p in found]
        )
    elif not workspace.registry.inventory.entries:
        print(NONE)
    else:
        for problem in found:
            print(f"{problem.level}: {problem.text}")
        print(f"{len(workspace.registry.inventory.entries)} plugins, {len(found)} problems.")
    return 1 if found or not workspace.registry.inventory.entries else 0
