"""`toolpost plugins lock` and `verify`: whether plugins are what somebody looked at."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from toolpost import LaunchOptions, PluginError, SettingsError
from toolpost_core.cli.output import print_facts, print_json, print_wrapped
from toolpost_core.cli.workspace import open_workspace, with_options
from toolpost_core.plugins.files import FileHashes
from toolpost_core.plugins.lock import Locked, current, differences, lock_file, read, wanted, write
from toolpost_core.settings.places import cache_dir

if TYPE_CHECKING:
    from collections.abc import Mapping

    from toolpost_core.cli.workspace import Workspace


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@with_options
def lock(options: LaunchOptions, as_json: bool) -> None:
    """Write down which plugins this project uses, with their versions, files and capabilities.

    From then on one that is not as it is now is refused here.
    """
    workspace = open_workspace(options)
    file = lock_file(workspace.places.project)
    now = _now(workspace)
    before: Mapping[str, Locked] = {}
    if file.exists():
        try:
            before = read(file)
        except SettingsError as error:
            if not as_json:
                print_wrapped(f"It is written anew: {error}")
    write(file, now)
    changed = differences(before, now) if before else {}
    gone = sorted(before.keys() - now.keys())
    if as_json:
        print_json({"file": str(file), "plugins": sorted(now), "changed": changed, "gone": gone})
        return
    _print(changed, gone)
    print_wrapped(f"{len(now)} distributions locked in {file}.")


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@with_options
def verify(options: LaunchOptions, as_json: bool) -> int:
    """Compare plugins that are on with the lock; exits 1 with the difference where there is one."""
    workspace = open_workspace(options)
    file = lock_file(workspace.places.project)
    if not file.exists():
        raise PluginError(f"There is no lock {file}. Write one: toolpost plugins lock")
    locked, now = read(file), _now(workspace, again=True)
    changed, gone = differences(locked, now), sorted(locked.keys() - now.keys())
    if as_json:
        print_json({"file": str(file), "changed": changed, "gone": gone})
    elif changed or gone:
        _print(changed, gone)
        print_wrapped("Where that is as it should be: toolpost plugins lock")
    else:
        print_wrapped(f"{len(now)} distributions are as {file} has them.")
    return 1 if changed or gone else 0


def _now(workspace: Workspace, *, again: bool = False) -> dict[str, Locked]:
    """Return what is on; with `again` every file is read, whatever its time says."""
    inventory = workspace.registry.inventory
    hashes = FileHashes(None if again else cache_dir(os.environ))
    found = current(wanted(inventory, workspace.settings.plugins), inventory, hashes)
    hashes.remember()
    return found


def _print(changed: Mapping[str, list[str]], gone: list[str]) -> None:
    facts = [(f"{name}:", text) for name, told in changed.items() for text in told]
    print_facts([*facts, *((f"{name}:", "it is in the lock, and not on") for name in gone)])
