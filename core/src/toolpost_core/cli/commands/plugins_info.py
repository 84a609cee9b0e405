"""`toolpost plugins info`: one plugin: what it brings, asks for and is set to."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import redirect_stdout
from typing import TYPE_CHECKING, Any

import click

from toolpost import LaunchOptions, Plugin, on
from toolpost_core.cli.commands.plugins_list import facts
from toolpost_core.cli.commands.plugins_switch import UNDECLARED
from toolpost_core.cli.commands.settings import masked
from toolpost_core.cli.commands.tool import about_tool, short_flags
from toolpost_core.cli.output import print_facts, print_json, print_wrapped
from toolpost_core.cli.workspace import Workspace, open_workspace, with_options
from toolpost_core.plugins.fields import config_schema, fields_of
from toolpost_core.plugins.groups import APART, KINDS
from toolpost_core.plugins.names import entries_named
from toolpost_core.session.engine import tool_pool

if TYPE_CHECKING:
    from toolpost_core.plugins.scan import Entry


@click.command()
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@with_options
def info(name: str, options: LaunchOptions, as_json: bool) -> None:
    """One plugin: where it comes from, what it brings and needs, its settings, its place. One that is off is not run."""
    workspace = open_workspace(options)
    with redirect_stdout(sys.stderr):  # what a plugin prints as it is asked
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
        "grants": _grants(workspace, entry),
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
    tools = _tools(workspace, entry) if entry.group == "tools" and values else []
    return {"seen": "as it was loaded", "tools": tools, "hooks": workspace.registry.hooks_of(entry)}


def _tools(workspace: Workspace, entry: Entry) -> list[dict[str, Any]]:
    """The tools that a loaded plugin brought; `left_out` says why one is not offered, and is empty of one that is."""
    options: Mapping[str, Any] = {"tools": None, "interactive": False}
    pool = tool_pool(workspace.registry, workspace.settings.rules, None, options, lambda _: None)
    every = [*((kept, "") for kept in pool.entries), *((absent.entry, absent.why) for absent in pool.absent)]
    who = (entry.name, entry.distribution, entry.version)
    return [
        {**about_tool(found.tool, *who), "left_out": why}
        for found, why in every
        if (found.plugin, found.distribution) == who[:2]
    ]


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


def _grants(workspace: Workspace, entry: Entry) -> list[dict[str, str]]:
    """What it was granted, and by whom; so far there is one thing to grant, to permission resolvers."""
    granted = workspace.registry.grants_of(entry)
    what = sorted(granted.what) if entry.group == "permission_resolvers" else ()
    return [{"grant": grant, "from": granted.source} for grant in what]


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
    print_facts(list(_facts(row)), indent=2)


def _facts(row: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what is printed of a plugin, each with its label."""
    for point in row["entry_points"]:
        is_own = point["value"] == row["value"] and point["kind"] == row["kind"]
        yield "entry point" if is_own else "beside it", f"toolpost.{point['kind']} {point['name']} = {point['value']}"
    yield "made for", f"toolpost-hookspecs {row['requires'] or 'of any version'}"
    for tool in row["tools"]:
        flags = ", ".join(short_flags(tool)) or "no flags"
        why = f"; left out: {tool['left_out']}" if tool.get("left_out") else ""
        yield (f"tool {tool['name']}:", flags + why) if row["enabled"] else ("tool", tool["name"])
    if row["hooks"]:
        yield "implements", ", ".join(row["hooks"])
    for line in row["needs"]:
        yield "needs:", line
    for grant in row["grants"]:
        yield "granted:", f"{grant['grant']}, by {grant['from']}"
    if row["kind"] == "permission_resolvers" and not row["grants"]:
        yield "granted:", "nothing: it may tighten, and not loosen"
    for field in row["settings"] or ():
        said = "must be set" if field["required"] and field["from"] == "its default" else f"= {field['value']}"
        yield f"setting {field['name']}:", f"{field['type']} {said} ({field['from']})"
    if row["settings"] is None and row["config"]:
        yield "config", json.dumps(row["config"], ensure_ascii=False)
    for place in row["order"]:
        told = f"it is number {place['place']} of {place['of']} ({place['why']}): "
        yield f"at {place['hook']}", told + ", ".join(place["all"])
    for label, url in row["links"].items():
        yield f"{label}:", url
