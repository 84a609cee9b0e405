"""`toolpost plugins info`: one plugin."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Any

import click

from toolpost import LaunchOptions, Plugin, PluginError
from toolpost_core.cli.commands.plugins_list import facts
from toolpost_core.cli.output import print_json
from toolpost_core.cli.workspace import Workspace, open_workspace, with_options
from toolpost_core.plugins.names import entries_named
from toolpost_core.settings.plugins import same_name

if TYPE_CHECKING:
    from toolpost_core.plugins.scan import Entry


@click.command()
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@with_options
def info(name: str, options: LaunchOptions, as_json: bool) -> None:
    """One plugin: where it comes from, its settings, whether it is on. One that is off is not imported."""
    workspace = open_workspace(options)
    found = [_described(workspace, entry) for entry in entries_named(workspace.registry.inventory.entries, name)]
    if as_json:
        print_json(found)
        return
    for row in found:
        print(
            f"{row['name']} ({row['kind']}) from {row['distribution']} {row['version']}: {row['state']}. {row['why']}"
        )
        print(f"  entry point {row['value']}, made for toolpost-hookspecs {row['requires'] or 'of any version'}")
        for field in row["settings"] or ():
            default = "" if field["required"] else f" = {field['default']}"
            print(f"  setting {field['name']}: {field['type']}{default}")
        if row["config"]:
            print(f"  config {json.dumps(row['config'], ensure_ascii=False)}")


def _described(workspace: Workspace, entry: Entry) -> dict[str, Any]:
    row = facts(workspace, entry)
    setting = workspace.settings.plugins.get(same_name(entry.name))
    fields = None
    if row["enabled"]:
        try:
            plugin = workspace.registry.one(entry.group, entry.name)
            fields = _fields(type(plugin.value)) if isinstance(plugin.value, Plugin) else []
        except PluginError:
            row = facts(workspace, entry)
    config = dict(setting.config) if setting else {}
    return {**row, "value": entry.value, "requires": entry.requires, "settings": fields, "config": config}


def _fields(plugin: type) -> list[dict[str, Any]]:
    if not dataclasses.is_dataclass(plugin):
        return []
    missing = dataclasses.MISSING
    return [
        {
            "name": field.name,
            "type": field.type if isinstance(field.type, str) else getattr(field.type, "__name__", str(field.type)),
            "required": field.default is missing and field.default_factory is missing,
            "default": None if field.default is missing else repr(field.default),
        }
        for field in dataclasses.fields(plugin)
    ]
