"""`toolpost tool`: list, show and run tools."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from typing import TYPE_CHECKING, Any, Final

import click

from toolpost import FunctionTool, LaunchOptions, PluginError, Tool
from toolpost_core.cli.exits import run_async
from toolpost_core.cli.output import print_json, print_table
from toolpost_core.cli.workspace import Workspace, open_workspace, with_options, with_permissions
from toolpost_core.session.engine import tool_pool
from toolpost_core.settings.plugins import same_name

if TYPE_CHECKING:
    from toolpost_core.tools.pool import Entry, Pool

FLAGS: Final = ("is_read_only", "is_concurrency_safe", "is_destructive", "is_open_world")
HEAD: Final = ("TOOL", "PLUGIN", "VERSION", "FLAGS", "STATE")


@click.group()
def tool() -> None:
    """List, show and run tools."""


@tool.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@with_options
def list_(options: LaunchOptions, as_json: bool) -> None:
    """Every tool: name, plugin, version, flags, and why one is not on."""
    workspace = open_workspace(options)
    with redirect_stdout(sys.stderr):  # what a plugin prints as it is asked
        rows = list(_rows(workspace))
    if as_json:
        print_json(rows)
    else:
        print_table(HEAD, [_cells(row) for row in rows], "No tool is installed. Install: pip install toolpost")


@tool.command()
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@with_options
def show(name: str, options: LaunchOptions, as_json: bool) -> None:
    """What a tool is: description, schema, flags, and the rules about it."""
    workspace = open_workspace(options)
    with redirect_stdout(sys.stderr):  # what a plugin prints as it is asked
        pool = _pool(workspace)
        entry = pool.find(name) or next((entry for entry in pool.entries if entry.plugin == name), None)
        if entry is None:
            raise _refusal(workspace, pool, name)
        shown = _described(workspace, pool, entry)
    if as_json:
        print_json(shown)
        return
    import json

    print(f"{shown['name']}  ({shown['distribution']} {shown['version']})\n\n{shown['description']}\n")
    print("Input:\n" + json.dumps(shown["input_schema"], indent=2, ensure_ascii=False))
    print("\nFlags: " + (", ".join(short_flags(shown)) or "none"))
    print("Rules: " + ("; ".join(f"{rule['behavior']} {rule['rule']}" for rule in shown["rules"]) or "none"))


@tool.command()
@click.argument("file", type=click.File("r", encoding="utf-8", errors="replace"), default="-")
@click.option("--json", "as_json", is_flag=True, help="JSON lines; there is no other form yet.")
@click.option("--yes", is_flag=True, help="Answer yes where a person would be asked.")
@with_options
@with_permissions
def run(file: Any, options: LaunchOptions, as_json: bool, yes: bool) -> int:
    """Run calls, one JSON line each, through the whole pipeline; each is answered before the next is read."""
    del as_json
    from toolpost_core.cli.calls import run_lines

    return run_async(run_lines(file, options, yes=yes))


def _pool(workspace: Workspace) -> Pool:
    options: dict[str, Any] = {"tools": None, "interactive": False}
    return tool_pool(workspace.registry, workspace.settings.rules, None, options, lambda _: None)


def _rows(workspace: Workspace) -> Iterator[dict[str, Any]]:
    pool = _pool(workspace)
    for entry in pool.entries:
        yield {**_facts(workspace, entry), "enabled": True, "why": ""}
    for absent in pool.absent:
        yield {**_facts(workspace, absent.entry), "enabled": False, "why": absent.why}
    for installed in workspace.registry.inventory.entries:
        state = workspace.registry.state_of(installed)
        if installed.group == "tools" and state.status != "on":
            who = {"plugin": installed.name, "distribution": installed.distribution, "version": installed.version}
            yield {"name": installed.name, **who, "enabled": False, "why": f"{state.status}: {state.why}"}


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    state = "on" if row["enabled"] else f"off: {row['why']}"
    return row["name"], row["plugin"], row["version"], ",".join(short_flags(row)), state


def _facts(workspace: Workspace, entry: Entry) -> dict[str, Any]:
    versions = {e.distribution: e.version for e in workspace.registry.inventory.entries}
    return about_tool(entry.tool, entry.plugin, entry.distribution, versions.get(entry.distribution, ""))


def about_tool(found: Tool[Any], plugin: str, distribution: str, version: str) -> dict[str, Any]:
    """Return what is known of a tool: names, where it comes from, its flags (None where they depend on the input)."""
    return {
        "name": found.name,
        "aliases": list(found.aliases),
        "plugin": plugin,
        "distribution": distribution,
        "version": version,
        **{flag.removeprefix("is_"): _flag(found, flag) for flag in FLAGS},
        "deferred": found.should_defer and not found.always_load,
        "max_result_chars": found.max_result_chars if found.max_result_chars != float("inf") else None,
    }


def _flag(found: Tool[Any], name: str) -> bool | None:
    """A flag's value; None where it depends on the input."""
    if isinstance(found, FunctionTool):
        return bool(found.flags[name.removeprefix("is_")])
    return None if getattr(type(found), name) is not getattr(Tool, name) else False


def short_flags(row: dict[str, Any]) -> Iterator[str]:
    """Name the flags that are set; one that depends on the input ends in a question mark."""
    for flag in (*(name.removeprefix("is_") for name in FLAGS), "deferred"):
        if flag in row and row[flag] is not False:
            yield flag if row[flag] else f"{flag}?"


def _described(workspace: Workspace, pool: Pool, entry: Entry) -> dict[str, Any]:
    found = entry.tool
    about = [rule for rule in workspace.settings.rules if rule.tool in (found.name, *found.aliases, "*")]
    return {
        **_facts(workspace, entry),
        "description": found.prompt({"tools": None, "interactive": False}),
        "input_schema": pool.shape(found).schema,
        "interrupt_behavior": found.interrupt_behavior(),
        "rules": [{"behavior": r.behavior, "rule": str(r), "source": r.source, "file": r.file} for r in about],
    }


def _refusal(workspace: Workspace, pool: Pool, name: str) -> PluginError:
    for absent in pool.absent:
        if name in (absent.entry.tool.name, absent.entry.plugin):
            return PluginError(f"The tool {name} is off: {absent.why}.")
    installed = [entry for entry in workspace.registry.inventory.entries if entry.group == "tools"]
    if any(same_name(name) == same_name(entry.name) for entry in installed):
        workspace.registry.one("tools", name)
    return PluginError(f"There is no tool {name!r}. There are: {', '.join(pool.names) or 'none'}.")
