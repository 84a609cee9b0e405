"""`toolpost plugins enable` and `disable`: turning plugins on and off in a settings file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click

from toolpost import LaunchOptions, PluginError
from toolpost_core.cli.workspace import Workspace, open_workspace, with_options
from toolpost_core.plugins.names import entries_named
from toolpost_core.settings import own_files
from toolpost_core.settings.plugins import same_name
from toolpost_core.settings.write import changed

if TYPE_CHECKING:
    from toolpost_core.plugins.scan import Entry

WHERE: Final = click.Choice(["user", "project", "local"])


@click.command()
@click.argument("name")
@click.option("--to", "level", type=WHERE, default="user", help="Which settings file.")
@with_options
def enable(name: str, level: str, options: LaunchOptions) -> None:
    """Turn a plugin on."""
    _switch(open_workspace(options), name, level, on=True)


@click.command()
@click.argument("name")
@click.option("--to", "level", type=WHERE, default="user", help="Which settings file.")
@with_options
def disable(name: str, level: str, options: LaunchOptions) -> None:
    """Turn a plugin off."""
    _switch(open_workspace(options), name, level, on=False)


def _switch(workspace: Workspace, name: str, level: str, *, on: bool) -> None:
    entries = entries_named(workspace.registry.inventory.entries, name)
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
