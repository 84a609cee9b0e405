"""`toolpost plugins profile`: what plugins cost: at the start, in a first request, and as a session ran."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Mapping
from contextlib import redirect_stdout
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import click

from toolpost import LaunchOptions, tokens_in_text
from toolpost_core.api import assemble
from toolpost_core.cli.commands.last_session import kept
from toolpost_core.cli.output import print_json, print_table
from toolpost_core.cli.workspace import Workspace, open_workspace, with_options
from toolpost_core.loop.estimate import tokens_of_tool
from toolpost_core.plugins.measure import import_costs
from toolpost_core.prompt.sections import gather
from toolpost_core.session.engine import tool_pool
from toolpost_core.session.session import Session
from toolpost_core.session.sources import context_sources

if TYPE_CHECKING:
    from toolpost_core.plugins.measure import Cost
    from toolpost_core.plugins.scan import Entry

COSTS: Final = ("PLUGIN", "IMPORT", "MEMORY", "MODULES", "TOOLS", "PROMPT")
TIMES: Final = ("EVENT", "PLUGIN", "CALLS", "TOTAL", "P50", "P99", "TIME-OUTS")
QUARANTINED: Final = ("EVENT", "PLUGIN", "WHAT IT GUARDS", "LAST ERROR")


@click.command()
@click.argument("session", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@with_options
def profile(session: str | None, options: LaunchOptions, as_json: bool) -> None:
    """What plugins cost: import time and memory, tokens of a first request, and their listeners' time in SESSION.

    Imports are measured in fresh processes, beyond the public API. Tokens are estimated. SESSION is
    the last one of this folder, if none is named.
    """
    workspace = open_workspace(options)
    registry = workspace.registry
    on = [entry for entry in registry.inventory.entries if registry.state_of(entry).status == "on"]
    with redirect_stdout(sys.stderr):  # plugins' code runs here, and may print
        costs, tools, sections = import_costs(on), _tool_tokens(workspace), asyncio.run(_section_tokens(options))
    rows = [_row(entry, costs[entry], tools, sections) for entry in on]
    found = kept(workspace, session)
    times = sorted(found.listeners, key=lambda row: -float(row.get("total") or 0))
    if as_json:
        session_id = found.session or None
        print_json({"plugins": rows, "session": session_id, "listeners": times, "quarantined": found.quarantined})
        return
    print_table(COSTS, [_cells(row) for row in rows], "No plugin is on.")
    print("\nCPU time and memory of the import; estimated tokens that tools and prompt sections add to a request.\n")
    kept_none = f"the session {found.session} kept no calls of listeners"
    none = kept_none if found.session else "no session of this folder was kept"
    print_table(TIMES, [_time_cells(row) for row in times], f"Nothing is known of listeners: {none}.")
    if found.quarantined:
        print("\nOff at the end of that session, after their failures:\n")
        print_table(QUARANTINED, [_quarantine_cells(row) for row in found.quarantined], "")


def _row(entry: Entry, cost: Cost, tools: Mapping[tuple[str, str], int], sections: Mapping[str, int]) -> dict[str, Any]:
    own = (entry.name, entry.distribution)
    return {
        "kind": entry.group,
        "name": entry.name,
        "distribution": entry.distribution,
        "version": entry.version,
        "import_ms": None if cost.error else round(cost.seconds * 1000, 1),
        "memory_bytes": None if cost.error else cost.memory,
        "modules": cost.modules,
        "tool_tokens": tools.get(own, 0) if entry.group == "tools" else 0,
        "prompt_tokens": sections.get(entry.name, 0) if entry.group == "context" else 0,
        "error": cost.error[-1] if cost.error else None,
    }


def _tool_tokens(workspace: Workspace) -> dict[tuple[str, str], int]:
    """Estimate what the model reads of each plugin's tools; a deferred one is not in the first request."""
    options: dict[str, Any] = {"tools": None, "interactive": False}
    pool = tool_pool(workspace.registry, workspace.settings.rules, None, options, lambda _: None)
    specs = {spec.name: spec for spec in pool.specs}
    tokens: dict[tuple[str, str], int] = {}
    for entry in pool.entries:
        spec = specs.get(entry.tool.name)
        if spec is not None:
            own = (entry.plugin, entry.distribution)
            tokens[own] = tokens.get(own, 0) + tokens_of_tool(spec)
    return tokens


async def _section_tokens(options: LaunchOptions) -> dict[str, int]:
    """Ask each source of the prompt alone, as a session would that keeps nothing; return the tokens by plugin."""
    session = Session(assemble(replace(options, persist=False), None, dict(os.environ)))
    tokens = {}
    try:
        for source in context_sources(session.parts.registry, lambda _: None):
            found = await gather([source], session.scope(), lambda _: None)
            tokens[source.plugin] = sum(tokens_in_text(one.section.text.strip()) for one in found)
    finally:
        await session.services.aclose()
        await session.stash.aclose()
    return tokens


def _cells(row: Mapping[str, Any]) -> tuple[str, ...]:
    name = f"{row['kind']}/{row['name']}"
    if row["error"]:
        return name, f"failed: {row['error']}", "", "", "", ""
    memory = f"{row['memory_bytes'] / 1024:,.0f} kB"
    tokens = (f"{row[key]:,}" if row[key] else "" for key in ("tool_tokens", "prompt_tokens"))
    return name, f"{row['import_ms']:.1f} ms", memory, str(row["modules"]), *tokens


def _time_cells(row: Mapping[str, Any]) -> tuple[str, ...]:
    times = (f"{row.get(key, 0):,.1f} ms" for key in ("total", "p50", "p99"))
    return str(row.get("event")), str(row.get("plugin")), str(row.get("calls")), *times, str(row.get("timeouts") or "")


def _quarantine_cells(row: Mapping[str, Any]) -> tuple[str, ...]:
    holds = "stays blocked" if row.get("blocks") else "goes on"
    return str(row.get("event")), str(row.get("plugin")), holds, str(row.get("error") or "")
