"""`toolpost doctor`: what is wrong, with what to do about it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import click

from toolpost import LaunchOptions, ToolpostError
from toolpost_core import __version__
from toolpost_core.api import choose_provider
from toolpost_core.cli.launch import FRONTENDS
from toolpost_core.cli.output import print_facts, print_json
from toolpost_core.cli.workspace import Workspace, open_workspace, with_options
from toolpost_core.plugins.groups import KINDS
from toolpost_core.session.confining import usable_sandbox
from toolpost_core.settings.places import cache_dir


class Finding(NamedTuple):
    """One thing that was looked at; `text` says what is wrong and what to do, or what is right."""

    what: str
    fine: bool
    text: str


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@with_options
def doctor(options: LaunchOptions, as_json: bool) -> int:
    """Look for what is wrong, with what to do about it; exits 1 where something is."""
    findings = list(_findings(open_workspace(options)))
    if as_json:
        print_json([finding._asdict() for finding in findings])
    else:
        print_facts([(f"{'ok     ' if one.fine else 'PROBLEM'}  {one.what}:", one.text) for one in findings])
    return 0 if all(finding.fine for finding in findings) else 1


def _findings(workspace: Workspace) -> Iterator[Finding]:
    yield Finding("version", True, f"toolpost {__version__}, Python {sys.version.split()[0]} at {sys.executable}")
    yield from _plugins(workspace)
    yield from _frontends(workspace)
    yield _model(workspace)
    yield _sandbox(workspace)
    told = {problem.text for problem in workspace.registry.problems}
    errors = [problem for problem in workspace.problems if problem.text not in told]
    for problem in errors:
        yield Finding("settings", problem.level != "error", problem.text)
    if not errors:
        files = ", ".join(map(str, workspace.settings.files)) or "none; all is as it comes"
        yield Finding("settings", True, f"files in force: {files}")
    trusted = (
        "trusted" if workspace.settings.trusted else "not trusted: what its settings would start or allow is left out"
    )
    yield Finding("workspace", True, f"{workspace.places.project} is {trusted}")
    yield _writable("sessions", workspace.places.config_dir, "TOOLPOST_CONFIG_DIR")
    yield _writable("cache", cache_dir(os.environ), "XDG_CACHE_HOME")


def _plugins(workspace: Workspace) -> Iterator[Finding]:
    registry = workspace.registry
    for group in KINDS:
        registry.collect(group)
    for problem in registry.problems:
        yield Finding("plugins", False, problem.text)
    count = len(registry.inventory.entries)
    if not count:
        yield Finding("plugins", False, "none is installed. Install the standard set: pip install toolpost")
    elif not registry.problems:
        on = sum(registry.state_of(entry).status == "on" for entry in registry.inventory.entries)
        yield Finding("plugins", True, f"{count} installed, {on} on")


def _frontends(workspace: Workspace) -> Iterator[Finding]:
    there = workspace.registry.names("frontends")
    for way, usual in FRONTENDS.items():
        name = workspace.settings.get(f"frontends.{way}") or usual
        if name not in there:
            has = f"there are {', '.join(there)}" if there else "there is none"
            yield Finding(
                "front ends", False, f"none called {name!r} for {way}; {has}. Install it or set frontends.{way}"
            )


def _model(workspace: Workspace) -> Finding:
    try:
        _, name = choose_provider(workspace.registry, workspace.settings.get("provider"), os.environ)
    except ToolpostError as error:
        first, *points = str(error).splitlines()
        return Finding("model", False, " ".join([first, "; ".join(point.strip(" -,.") for point in points)]).rstrip())
    return Finding("model", True, f"asked through {name}")


def _sandbox(workspace: Workspace) -> Finding:
    wanted = bool(workspace.settings.get("sandbox.enabled"))
    found, why = usable_sandbox(workspace.registry, workspace.settings)
    if found is None:
        return Finding("sandbox", not wanted, f"none can be used: {why}")
    state = "commands run in it" if wanted else "it is off; to have commands run in it set sandbox.enabled"
    return Finding("sandbox", True, f"{found.plugin} works; {state}")


def _writable(what: str, folder: Path, variable: str) -> Finding:
    place = next((parent for parent in (folder, *folder.parents) if parent.exists()), folder)
    if place.is_dir() and os.access(place, os.W_OK | os.X_OK):
        return Finding(what, True, f"{folder} can be written")
    return Finding(what, False, f"{folder} can't be written: mend the rights of {place}, or set {variable}")
