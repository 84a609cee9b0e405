"""`toolpost plugins`: what is installed, what is on, and why not."""

from __future__ import annotations

import dataclasses
import difflib
import json
from typing import TYPE_CHECKING, Any, Final

import click

from toolpost import LaunchOptions, Plugin, PluginError
from toolpost_core.cli.output import print_json, print_table
from toolpost_core.cli.workspace import Workspace, open_workspace, with_options
from toolpost_core.plugins.groups import KINDS
from toolpost_core.settings import own_files
from toolpost_core.settings.plugins import same_name
from toolpost_core.settings.write import changed

if TYPE_CHECKING:
    from toolpost_core.plugins.scan import Entry

NONE: Final = "No plugin is installed, so nothing can be done. Install the standard set: pip install toolpost"
WHERE: Final = click.Choice(["user", "project", "local"])


@click.group()
def plugins() -> None:
    """What is installed, on, and why not."""


@plugins.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@with_options
def list_(options: LaunchOptions, as_json: bool) -> None:
    """Every plugin: kind, name, distribution, version, and whether it is on."""
    workspace = open_workspace(options)
    rows = [_facts(workspace, entry) for entry in workspace.registry.inventory.entries]
    if as_json:
        print_json(rows)
        return
    cells = [(r["kind"], r["name"], r["distribution"], r["version"], r["state"], _why(r)) for r in rows]
    print_table(("KIND", "NAME", "DISTRIBUTION", "VERSION", "STATE", "WHY"), cells, NONE)


@plugins.command()
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@with_options
def info(name: str, options: LaunchOptions, as_json: bool) -> None:
    """One plugin: where it comes from, its settings, whether it is on. One that is off is not imported."""
    workspace = open_workspace(options)
    found = [_described(workspace, entry) for entry in _named(workspace, name)]
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


@plugins.command()
@click.argument("name")
@click.option("--to", "level", type=WHERE, default="user", help="Which settings file.")
@with_options
def enable(name: str, level: str, options: LaunchOptions) -> None:
    """Turn a plugin on."""
    _switch(open_workspace(options), name, level, on=True)


@plugins.command()
@click.argument("name")
@click.option("--to", "level", type=WHERE, default="user", help="Which settings file.")
@with_options
def disable(name: str, level: str, options: LaunchOptions) -> None:
    """Turn a plugin off."""
    _switch(open_workspace(options), name, level, on=False)


@plugins.command()
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


def _facts(workspace: Workspace, entry: Entry) -> dict[str, Any]:
    state = workspace.registry.state_of(entry)
    return {
        "kind": entry.group,
        "name": entry.name,
        "distribution": entry.distribution,
        "version": entry.version,
        "standard": entry.standard,
        "enabled": state.status == "on",
        "state": state.status,
        "why": state.why,
    }


def _why(row: dict[str, Any]) -> str:
    return "" if row["enabled"] and row["standard"] else row["why"]


def _described(workspace: Workspace, entry: Entry) -> dict[str, Any]:
    row = _facts(workspace, entry)
    setting = workspace.settings.plugins.get(same_name(entry.name))
    fields = None
    if row["enabled"]:
        try:
            plugin = workspace.registry.one(entry.group, entry.name)
            fields = _fields(type(plugin.value)) if isinstance(plugin.value, Plugin) else []
        except PluginError:
            row = _facts(workspace, entry)
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


def _named(workspace: Workspace, name: str) -> list[Entry]:
    entries = workspace.registry.inventory.entries
    found = [entry for entry in entries if same_name(name) in (same_name(entry.name), same_name(entry.distribution))]
    if not found:
        known = sorted({entry.name for entry in entries} | {entry.distribution for entry in entries})
        near = difflib.get_close_matches(name, known, 3)
        hint = f"Did you mean {' or '.join(near)}?" if near else "`toolpost plugins list` shows what is installed."
        raise PluginError(f"No plugin {name!r} is installed. {hint}")
    return found


def _switch(workspace: Workspace, name: str, level: str, *, on: bool) -> None:
    entries = _named(workspace, name)
    file = own_files(workspace.places.project, workspace.places.config_dir)[level]
    with changed(file) as content:
        every = content.setdefault("plugins", {})
        if not isinstance(every, dict):
            raise PluginError(f"{file}: `plugins` is no object. Mend the file first.")
        key = next((key for key in every if same_name(key) == same_name(name)), name)
        before = every.get(key)
        every[key] = {**before, "enabled": on} if isinstance(before, dict) else on
    which = ", ".join(f"{entry.name} ({entry.group}, {entry.distribution})" for entry in entries)
    print(f"{which} turned {'on' if on else 'off'} in {file}.")
    state = {entry: after.status for entry, after in _states(workspace, entries).items()}
    if any((status == "on") != on for status in state.values()):
        print(f"It is still {' / '.join(sorted(set(state.values())))}: `toolpost plugins info {name}` says why.")


def _states(workspace: Workspace, entries: list[Entry]) -> dict[Entry, Any]:
    again = open_workspace(workspace.options)
    return {entry: again.registry.state_of(entry) for entry in entries}
