"""`toolpost hooks`: the hooks that are set up, and the events that there are."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any, Final

import click

from toolpost import LaunchOptions, on
from toolpost_core.cli.output import one_line, print_json, print_table
from toolpost_core.cli.workspace import Workspace, open_workspace, with_options
from toolpost_core.plugins.groups import KINDS

APART: Final = frozenset({"frontends", "settings_sources"})
"""Kinds whose plugins are made outside of sessions, and hear nothing of them."""


@click.group()
def hooks() -> None:
    """The hooks that are set up, and the events there are."""


@hooks.command("list")
@click.option("--events", "only_events", is_flag=True, help="The events there are, and what each allows.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON: both.")
@with_options
def list_(options: LaunchOptions, only_events: bool, as_json: bool) -> None:
    """The hooks of settings and of plugins."""
    workspace = open_workspace(options)
    configured = list(_configured(workspace))
    if as_json:
        listeners = list(_listeners(workspace))
        print_json({"configured": configured, "listeners": listeners, "events": [_event(name) for name in on.__all__]})
    elif only_events:
        print_table(
            ("EVENT", "KIND", "REWRITES", "DEADLINE", "ON FAILURE"), [_cells(_event(name)) for name in on.__all__], ""
        )
    else:
        rows = [*configured, *_listeners(workspace)]
        shown = [(row["event"], row.get("matcher") or "", row["what"], row["from"]) for row in rows]
        print_table(("EVENT", "MATCHER", "HOOK", "FROM"), shown, "No hook is set up.")


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    return row["event"], row["kind"], "yes" if row["rewrites"] else "", f"{row['deadline']:g} s", row["failure"]


def _event(name: str) -> dict[str, Any]:
    event = getattr(on, name)
    return {
        "event": event.title,
        "name": name,
        "kind": event.kind,
        "rewrites": event.rewrites is not None,
        "deadline": event.deadline,
        "failure": "blocks" if event.kind == "decide" else "passed over",
        "preview": event.preview,
        "contract": inspect.getdoc(event.spec) or "",
    }


def _configured(workspace: Workspace) -> Iterator[dict[str, Any]]:
    for document in workspace.settings.documents:
        for event, groups in document.values.get("hooks", {}).items():
            for group in groups:
                if not isinstance(group, dict):
                    continue
                for handler in group.get("hooks") or ():
                    if isinstance(handler, dict):
                        yield {
                            "event": event,
                            "matcher": group.get("matcher"),
                            "what": one_line(_what(handler)),
                            "handler": handler,
                            "level": document.level,
                            "from": str(document.file) if document.file else document.level,
                        }


def _what(handler: dict[str, Any]) -> str:
    kind = str(handler.get("type"))
    return (
        f"{kind}: {handler.get('command') or handler.get('url') or handler.get('prompt') or handler.get('tool') or ''}"
    )


def _listeners(workspace: Workspace) -> Iterator[dict[str, Any]]:
    """Listeners of plugins of every kind that takes part in a session.

    Those that a plugin makes for a session's settings are not among them: what they run is among the configured.
    """
    registry = workspace.registry
    for group in KINDS:
        if group not in APART:
            registry.collect(group)
    for name in on.__all__:
        caller = getattr(registry.manager.hook, name, None)
        for found in reversed(caller.get_hookimpls() if caller else ()):
            yield {"event": getattr(on, name).title, "what": f"plugin {found.plugin_name}", "from": found.plugin_name}
