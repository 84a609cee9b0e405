"""`toolpost hooks`: the hooks that are set up, and the events that there are."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import click

from toolpost import LaunchOptions, SessionScope, on
from toolpost_core.cli.commands.hooks_trial import test
from toolpost_core.cli.commands.last_session import kept
from toolpost_core.cli.output import one_line, print_json, print_table
from toolpost_core.cli.workspace import Workspace, open_workspace, with_options
from toolpost_core.events.quarantine import STRIKES
from toolpost_core.events.terms import terms_of
from toolpost_core.plugins.groups import KINDS
from toolpost_core.session.added_hooks import OFF
from toolpost_core.session.listening import hook_files, listen
from toolpost_core.session.plugin_hooks import read_all
from toolpost_core.settings.hooks import hooks_in_force

if TYPE_CHECKING:
    from toolpost_core.events.terms import Terms
    from toolpost_core.plugins.scan import Entry

APART: Final = frozenset({"frontends", "settings_sources"})
"""Kinds whose plugins are made outside of sessions, and hear nothing of them."""
TERMS: Final = ("KIND", "REWRITES", "DEADLINE", "ON FAILURE")
EVENTS: Final = ("EVENT", *TERMS)
LISTENERS: Final = ("EVENT", "PLUGIN", "DISTRIBUTION", *TERMS, "STATE")


@click.group()
def hooks() -> None:
    """The hooks that are set up, and the events there are."""


hooks.add_command(test)


@hooks.command("list")
@click.option("--events", "only_events", is_flag=True, help="The events there are, and what each allows.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON: both.")
@with_options
def list_(options: LaunchOptions, only_events: bool, as_json: bool) -> None:
    """The hooks of settings, and the listeners of plugins with what each may do.

    A listener that fails three times is off for its session; one that was so in the last session of this folder is
    marked.
    """
    workspace = open_workspace(options)
    configured = [*_configured(workspace), *_of_plugins(workspace)]
    for text in why_not_all(workspace):
        click.echo(f"toolpost: {text}", err=True)
    if as_json:
        listeners = list(_listeners(workspace))
        print_json({"configured": configured, "listeners": listeners, "events": [_event(name) for name in on.__all__]})
    elif only_events:
        print_table(EVENTS, [_cells(_event(name)) for name in on.__all__], "")
    else:
        _print_set_up(configured, list(_listeners(workspace)))


def _print_set_up(configured: Sequence[dict[str, Any]], listeners: Sequence[dict[str, Any]]) -> None:
    if not configured and not listeners:
        print("No hook is set up.")
    if configured:
        rows = [(row["event"], row["matcher"] or "", row["what"], row["from"]) for row in configured]
        print_table(("EVENT", "MATCHER", "HOOK", "FROM"), rows, "")
    if configured and listeners:
        print()
    if listeners:
        print_table(LISTENERS, [_listener_cells(row) for row in listeners], "")


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


def why_not_all(workspace: Workspace) -> Iterator[str]:
    """Yield why hooks that somebody set up are not listed: what reading them brought up, and what switches them off."""
    yield from (problem.text for problem in workspace.problems)
    for key in OFF:
        level = next((one for one in workspace.settings.documents if one.values.get(key)), None)
        if level is not None:
            rest = "" if level.level == "managed" and key == OFF[0] else " that are not managed"
            yield f"{key} in {level.file or level.level} switches off the hooks{rest}."


def _configured(workspace: Workspace) -> Iterator[dict[str, Any]]:
    for document in hooks_in_force(workspace.settings.documents):
        source = str(document.file) if document.file else document.level
        for event, groups in document.values.get("hooks", {}).items():
            yield from _rows(event, groups, document.level, source)


def _of_plugins(workspace: Workspace) -> Iterator[dict[str, Any]]:
    """Yield the hooks that plugins bring in files."""
    if any(workspace.settings.get(key) for key in OFF):
        return
    registry, told = workspace.registry, partial(click.echo, err=True)
    for hooks in read_all(hook_files(registry), registry, workspace.places.config_dir, told):
        for event, groups in hooks.items():
            for group in groups:
                yield from _rows(event, [group], "plugin", str(group["plugin"].root))


def _rows(event: str, groups: Sequence[Any], level: str, source: str) -> Iterator[dict[str, Any]]:
    for group in groups:
        for handler in (group.get("hooks") or ()) if isinstance(group, dict) else ():
            if isinstance(handler, dict):
                yield {
                    "event": event,
                    "matcher": group.get("matcher"),
                    "what": one_line(_what(handler)),
                    "handler": handler,
                    "level": level,
                    "from": source,
                }


def _what(handler: dict[str, Any]) -> str:
    kind = str(handler.get("type"))
    return (
        f"{kind}: {handler.get('command') or handler.get('url') or handler.get('prompt') or handler.get('tool') or ''}"
    )


def _listeners(workspace: Workspace) -> Iterator[dict[str, Any]]:
    """Yield the listeners of plugins of every kind that takes part in a session, in the order in which they are called.

    Those that a plugin makes for a session's settings are made for one that does not start.
    """
    registry = workspace.registry
    for group in KINDS:
        if group not in APART:
            registry.collect(group)
    with redirect_stdout(sys.stderr):  # plugins' code runs here, and may print
        listen(registry, _scope(workspace), partial(click.echo, err=True))
    last = kept(workspace)
    failing = {(row.get("event"), row.get("plugin")) for row in last.quarantined}
    rules = registry.manager.rules
    for name in on.__all__:
        if (hook := getattr(registry.manager.hook, name, None)) is None:
            continue
        for found in sorted(hook.get_hookimpls(), key=rules.rank):
            row = _listener(terms_of(getattr(on, name), hook, found, rules), rules.entry(found.plugin_name))
            yield {**row, "off_in_session": last.session if (row["event"], row["plugin"]) in failing else None}


def _listener(listener: Terms, entry: Entry | None) -> dict[str, Any]:
    event = listener.event
    return {
        "event": event.title,
        "plugin": listener.plugin,
        "distribution": entry.distribution if entry else None,
        "version": entry.version if entry else None,
        "kind": event.kind if "decide" in listener.roles else "observe",
        "rewrites": event.rewrites is not None and "rewrite" in listener.roles,
        "deadline": listener.limit,
        "failure": "blocks" if listener.blocks else "passed over",
        "state": "on",
    }


def _listener_cells(row: dict[str, Any]) -> tuple[str, ...]:
    distribution = f"{row['distribution']} {row['version']}" if row["distribution"] else ""
    last = row["off_in_session"]
    state = f"{row['state']}; was off after {STRIKES} failures in session {last[:8]}" if last else row["state"]
    event, *terms = _cells(row)
    return event, row["plugin"], distribution, *terms, state


def _scope(workspace: Workspace) -> SessionScope:
    """Return what plugins are told of the session that would start here, which has no services yet."""
    places, settings = workspace.places, workspace.settings
    return SessionScope(
        session_id="",
        project=places.project,
        cwd=places.project,
        home=places.home,
        config_dir=places.config_dir,
        settings=settings.values,
        env={**os.environ, **settings.get("env", {})},
        trusted=settings.trusted,
        report=partial(click.echo, err=True),
    )
