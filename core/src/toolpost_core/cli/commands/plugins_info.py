"""`toolpost plugins info`: one plugin: what it brings, asks for and is set to."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import click

from toolpost import LaunchOptions, Plugin, on
from toolpost_core.cli.commands.plugins_list import facts
from toolpost_core.cli.commands.plugins_switch import UNDECLARED
from toolpost_core.cli.commands.settings import masked
from toolpost_core.cli.commands.tool import about_tool, short_flags
from toolpost_core.cli.output import print_json, print_wrapped
from toolpost_core.cli.workspace import Workspace, open_workspace, with_options
from toolpost_core.plugins.fields import config_schema, fields_of
from toolpost_core.plugins.groups import KINDS
from toolpost_core.plugins.names import entries_named

if TYPE_CHECKING:
    from toolpost_core.plugins.scan import Entry

APART: Final = frozenset({"frontends", "settings_sources"})
"""Kinds whose plugins are made outside of sessions, and hear nothing of them."""


@click.command()
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@with_options
def info(name: str, options: LaunchOptions, as_json: bool) -> None:
    """One plugin: where it comes from, what it brings and needs, its settings, its place. One that is off is not run."""
    workspace = open_workspace(options)
    found = [_described(workspace, entry) for entry in entries_named(workspace.registry.inventory.entries, name)]
    if as_json:
        print_json(found)
        return
    for row in found:
        _print(row)


def _described(workspace: Workspace, entry: Entry) -> dict[str, Any]:
    """A plugin that is on is loaded; of one that is off, only its files are read."""
    registry = workspace.registry
    values: list[Any] = []
    if registry.state_of(entry).status == "on":
        for group in KINDS:
            if group not in APART or group == entry.group:
                registry.collect(group)
        values = [
            p for p in registry.collect(entry.group) if (p.plugin, p.distribution) == (entry.name, entry.distribution)
        ]
    row = facts(workspace, entry)
    declared = registry.capabilities(entry)
    return {
        **row,
        "value": entry.value,
        "entry_points": [
            {"kind": e.group, "name": e.name, "value": e.value}
            for e in registry.inventory.entries
            if e.distribution == entry.distribution
        ],
        "requires": entry.requires,
        **_brings(workspace, entry, row["enabled"], values),
        "capabilities": declared.as_values() if declared is not None and not declared.mistake else None,
        "needs": [UNDECLARED] if declared is None else [declared.mistake] if declared.mistake else declared.lines(),
        **_settings(workspace, entry, values),
        "order": _order(workspace, entry) if row["enabled"] else [],
        "links": _links(entry.distribution),
    }


def _brings(workspace: Workspace, entry: Entry, is_on: bool, values: list[Any]) -> dict[str, Any]:
    if not is_on:
        from toolpost_core.plugins.source import look

        brings = look(entry)
        tools = [{"name": tool} for tool in brings.tools] if entry.group == "tools" else []
        return {"seen": "in its source; it was not run", "tools": tools, "hooks": list(brings.hooks)}
    who = (entry.name, entry.distribution, entry.version)
    tools = [about_tool(provided.value, *who) for provided in values] if entry.group == "tools" else []
    return {"seen": "as it was loaded", "tools": tools, "hooks": workspace.registry.hooks_of(entry)}


def _settings(workspace: Workspace, entry: Entry, values: list[Any]) -> dict[str, Any]:
    setting = workspace.registry.setting_of(entry)
    config = masked(dict(setting.config)) if setting else {}
    files = {key: str(file or "the command line") for key, file in setting.config_files.items()} if setting else {}
    kind = next((type(provided.value) for provided in values if isinstance(provided.value, Plugin)), None)
    fields = [
        {**field, "value": config.get(field["name"], field["default"]), "from": files.get(field["name"], "its default")}
        for field in (fields_of(kind) if kind else ())
    ]
    return {"settings": fields if values else None, "schema": config_schema(kind) if kind else None, "config": config}


def _order(workspace: Workspace, entry: Entry) -> list[dict[str, Any]]:
    """Its place among those that are asked at the same hook, and what the place follows from."""
    registry, own = workspace.registry, workspace.registry.registered_as(entry)
    places = []
    for hook in registry.hooks_of(entry):
        order = registry.calling_order(hook) if hook in on.__all__ else []
        places += [_place(hook, [plugin for plugin, _ in order], own, why) for plugin, why in order if plugin == own]
    if entry.group == "permission_resolvers":
        asked = [provided.plugin for provided in registry.in_order(entry.group)]
        if entry.name in asked:
            places.append(_place(entry.group, asked, entry.name, registry.manager.rules.why(own)))
    return places


def _place(hook: str, order: list[str], own: str, why: str) -> dict[str, Any]:
    return {"hook": hook, "place": order.index(own) + 1, "of": len(order), "why": why, "all": order}


def _links(distribution: str) -> dict[str, str]:
    from importlib import metadata

    try:
        about = metadata.metadata(distribution)
    except metadata.PackageNotFoundError:
        return {}
    urls = [url.partition(",") for url in about.get_all("Project-URL") or ()]
    links = {label.strip(): url.strip() for label, _, url in urls}
    home = next(iter(about.get_all("Home-page") or ()), "")
    return {**({"Homepage": home} if home and home != "UNKNOWN" else {}), **links}


def _print(row: dict[str, Any]) -> None:
    why = row["why"].rstrip(".")
    print_wrapped(f"{row['name']} ({row['kind']}) from {row['distribution']} {row['version']}: {row['state']}, {why}.")
    for point in row["entry_points"]:
        mark = "entry point" if point["value"] == row["value"] and point["kind"] == row["kind"] else "beside it"
        print_wrapped(f"{mark} toolpost.{point['kind']} {point['name']} = {point['value']}", indent=2)
    print_wrapped(f"made for toolpost-hookspecs {row['requires'] or 'of any version'}", indent=2)
    for tool in row["tools"]:
        flags = ", ".join(short_flags(tool)) or "no flags"
        print_wrapped(f"tool {tool['name']}" + (f": {flags}" if row["enabled"] else ""), indent=2)
    if row["hooks"]:
        print_wrapped(f"implements {', '.join(row['hooks'])}", indent=2)
    for line in row["needs"]:
        print_wrapped(f"needs: {line}", indent=2)
    for field in row["settings"] or ():
        said = "must be set" if field["required"] and field["from"] == "its default" else f"= {field['value']}"
        print_wrapped(f"setting {field['name']}: {field['type']} {said} ({field['from']})", indent=2)
    if row["settings"] is None and row["config"]:
        print_wrapped(f"config {json.dumps(row['config'], ensure_ascii=False)}", indent=2)
    for place in row["order"]:
        told = f"at {place['hook']} it is number {place['place']} of {place['of']} ({place['why']}): "
        print_wrapped(told + ", ".join(place["all"]), indent=2)
    for label, url in row["links"].items():
        print_wrapped(f"{label}: {url}", indent=2)
