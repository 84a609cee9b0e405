"""`toolpost plugins enable` and `disable`: turning plugins on and off in a settings file."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

import click

from toolpost import LaunchOptions, PluginError
from toolpost_core.cli.output import print_json, print_wrapped
from toolpost_core.cli.workspace import Workspace, open_workspace, with_options
from toolpost_core.plugins.names import entries_named, unknown_plugin
from toolpost_core.settings import own_files
from toolpost_core.settings.plugins import same_name
from toolpost_core.settings.write import changed

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from toolpost_core.plugins.scan import Entry

UNDECLARED: Final = "it does not say what it needs, so it may do all that you may"


def _with_place(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the flags that choose the settings file; the last one given counts."""
    for level, what in (("user", "yours"), ("project", "the project's, shared"), ("local", "the project's, yours")):
        default = level == "user"
        option = click.option(f"--{level}", "level", flag_value=level, default=default, help=f"Write {what}.")
        command = option(command)
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(command)


@click.command()
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@_with_place
@click.option("--yes", is_flag=True, help="Do not ask.")
@with_options
def enable(names: tuple[str, ...], level: str, options: LaunchOptions, yes: bool, as_json: bool) -> int:
    """Turn plugins on. In a terminal you see what they would be given, and are asked."""
    workspace = open_workspace(options)
    given = [_given(workspace, entry) for entry in _named(workspace, names)]
    if not as_json:
        for row in given:
            _print_given(row)
        asks = not yes and sys.stdin.isatty() and sys.stdout.isatty()
        if asks and not click.confirm(f"Turn {'it' if len(given) == 1 else 'them'} on?", default=False):
            print("Nothing was changed.")
            return 1
    return _switch(workspace, names, level, given, on=True, as_json=as_json)


@click.command()
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@_with_place
@with_options
def disable(names: tuple[str, ...], level: str, options: LaunchOptions, as_json: bool) -> int:
    """Turn plugins off; of one that is not installed any more the entry is removed."""
    workspace = open_workspace(options)
    gone = [name for name in names if not _is_installed(workspace, name)]
    names = tuple(name for name in names if name not in gone)
    if gone:
        file = _forget(workspace, level, gone)
        if not as_json:
            print("\n".join(f"{name} is not installed; its entry was removed from {file}." for name in gone))
        if not names and not as_json:
            return 0
    entries = _named(workspace, names)
    given = [{"kind": e.group, "name": e.name, "distribution": e.distribution, "version": e.version} for e in entries]
    return _switch(workspace, names, level, given, on=False, as_json=as_json)


def _named(workspace: Workspace, names: Sequence[str]) -> list[Entry]:
    """Return what all names mean, each entry once. Raises PluginError before anything is written."""
    installed = workspace.registry.inventory.entries
    return list(dict.fromkeys(entry for name in names for entry in entries_named(installed, name)))


def _is_installed(workspace: Workspace, name: str) -> bool:
    entries = workspace.registry.inventory.entries
    return any(same_name(name) in (same_name(entry.name), same_name(entry.distribution)) for entry in entries)


def _forget(workspace: Workspace, level: str, names: Sequence[str]) -> Path:
    """Take entries out of the settings file and return it. Raises PluginError, naming near ones, for one not there."""
    file = own_files(workspace.places.project, workspace.places.config_dir)[level]
    with changed(file) as content:
        every = content.get("plugins")
        for name in names:
            keys = [key for key in every if same_name(key) == same_name(name)] if isinstance(every, dict) else []
            if not isinstance(every, dict) or not keys:
                raise unknown_plugin(workspace.registry.inventory.entries, name)
            del every[keys[0]]
    return file


def _given(workspace: Workspace, entry: Entry) -> dict[str, Any]:
    """What a plugin would be given; read from its files, since it is not on yet and must not run."""
    from toolpost_core.plugins.source import look

    brings, declared = look(entry), workspace.registry.capabilities(entry)
    return {
        "kind": entry.group,
        "name": entry.name,
        "distribution": entry.distribution,
        "version": entry.version,
        "tools": list(brings.tools) if entry.group == "tools" else [],
        "hooks": list(brings.hooks),
        "capabilities": declared.as_values() if declared is not None and not declared.mistake else None,
        "needs": _needs(declared),
    }


def _needs(declared: Any) -> list[str]:
    if declared is None:
        return [UNDECLARED]
    if declared.mistake:
        return [f"what it says that it needs can't be read ({declared.file}: {declared.mistake})"]
    return declared.lines() or ["it needs nothing beside what every plugin has"]


def _print_given(row: dict[str, Any]) -> None:
    print(f"{row['name']} ({row['kind']}, {row['distribution']} {row['version']})")
    if row["tools"]:
        print_wrapped(f"tools for the model: {', '.join(row['tools'])}", indent=2)
    if row["hooks"]:
        print_wrapped(f"hears: {', '.join(row['hooks'])}", indent=2)
    for line in row["needs"]:
        print_wrapped(f"- {line}", indent=2)


def _switch(
    workspace: Workspace, names: Sequence[str], level: str, given: Sequence[dict[str, Any]], *, on: bool, as_json: bool
) -> int:
    file = own_files(workspace.places.project, workspace.places.config_dir)[level]
    _write(file, names, on=on)
    still = list(_not_so(workspace, names, on=on))
    if as_json:
        print_json({"file": str(file), "enabled": on, "plugins": list(given), "not_in_force": still})
        return 0
    which = ", ".join(f"{row['name']} ({row['kind']}, {row['distribution']})" for row in given)
    print(f"{which} turned {'on' if on else 'off'} in {file}.")
    for row in still:
        print_wrapped(f"{row['name']} ({row['kind']}) is still {row['state']}: {row['why']}.")
    return 0


def _write(file: Path, names: Sequence[str], *, on: bool) -> None:
    with changed(file) as content:
        every = content.setdefault("plugins", {})
        if not isinstance(every, dict):
            raise PluginError(f"{file}: `plugins` is no object. Mend the file first.")
        for name in names:
            key = next((key for key in every if same_name(key) == same_name(name)), name)
            before = every.get(key)
            every[key] = {**before, "enabled": on} if isinstance(before, dict) else on


def _not_so(workspace: Workspace, names: Sequence[str], *, on: bool) -> Iterator[dict[str, str]]:
    """Entries that are not what they were switched to: a higher level, a lock or a range says otherwise."""
    again = open_workspace(workspace.options)
    problems = [problem for problem in again.settings.problems if problem.plugin]
    for entry in _named(again, names):
        own = {same_name(entry.name), same_name(entry.distribution)}
        told = [problem.text.rstrip(".") for problem in problems if same_name(problem.plugin) in own]
        state = again.registry.state_of(entry)
        if (state.status == "on") != on:
            why = ". ".join((state.why, *told))
            yield {"kind": entry.group, "name": entry.name, "state": state.status, "why": why}
