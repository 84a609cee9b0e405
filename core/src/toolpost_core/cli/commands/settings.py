"""`toolpost settings`: what is in force, where it came from, and what is wrong with it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from toolpost import LaunchOptions, SettingsError
from toolpost_core.cli.output import print_json, print_table
from toolpost_core.cli.workspace import open_workspace, with_options
from toolpost_core.plugins.groups import KINDS
from toolpost_core.settings.check import checked, repeated_keys, unknown_keys
from toolpost_core.settings.document import Unusable, read_document
from toolpost_core.settings.hooks import sound_hooks
from toolpost_core.settings.plugins import plugin_settings
from toolpost_core.settings.problem import Problem
from toolpost_core.settings.rules import rules_of

if TYPE_CHECKING:
    from toolpost_core.settings import Settings

NESTED: Final = ("permissions", "sandbox", "plugins", "frontends")
SECRET: Final = re.compile(r"key|token|secret|password|credential", re.IGNORECASE)


@click.group()
def settings() -> None:
    """Settings in force, and what is wrong with them."""


@settings.command()
@click.argument("key", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@with_options
def show(key: str | None, options: LaunchOptions, as_json: bool) -> None:
    """The value of each key and where it came from, the deciding file first."""
    workspace = open_workspace(options)
    found = workspace.settings
    if key is not None and found.get(key) is None:
        raise SettingsError(f"{key} is not set. `toolpost settings show` lists what is.")
    rows = {name: _row(found, name) for name in ([key] if key else _keys(found))}
    if as_json:
        problems = [_problem(problem) for problem in workspace.problems]
        files = [str(file) for file in found.files]
        print_json(rows[key] if key else {"settings": rows, "files": files, "problems": problems})
        return
    table = [
        (
            name,
            json.dumps(row["value"], ensure_ascii=False),
            ", ".join(where["file"] or where["level"] for where in row["from"]),
        )
        for name, row in rows.items()
    ]
    print_table(("KEY", "VALUE", "FROM"), table, "Nothing is set: all is as it comes.")


@settings.command()
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@with_options
def validate(file: Path | None, options: LaunchOptions, as_json: bool) -> int:
    """Check a settings file, or all that are in force here; exits 2 where something is wrong.

    Settings of plugins are checked where all that are in force are: their plugins are loaded for it.
    """
    problems = list(_of_file(file)) if file else _in_force(options)
    wrong = any(problem.level == "error" for problem in problems)
    if as_json:
        print_json({"valid": not wrong, "problems": [_problem(problem) for problem in problems]})
    else:
        for problem in problems:
            print(f"{problem.level}: {problem.text}")
        print("Not valid." if wrong else "Valid.")
    return 2 if wrong else 0


def _keys(found: Settings) -> Iterator[str]:
    for key, value in sorted(found.values.items()):
        if key in NESTED and isinstance(value, dict):
            yield from (f"{key}.{name}" for name in value if "." not in name)
        else:
            yield key


def _row(found: Settings, key: str) -> dict[str, Any]:
    where = [{"level": level, "file": str(file) if file else None} for level, file in found.provenance(key)]
    return {"key": key, "value": masked(found.get(key)), "from": where}


def _from(row: dict[str, Any]) -> str:
    return ", ".join(where["file"] or where["level"] for where in row["from"])


def masked(value: Any, name: str = "") -> Any:
    """Return a value with what looks like a secret blotted out: what is shown ends up in logs and bug reports."""
    if isinstance(value, dict):
        return {key: masked(item, key) for key, item in value.items()}
    if isinstance(value, list):
        return [masked(item, name) for item in value]
    return "********" if isinstance(value, str) and value and SECRET.search(name) else value


def _in_force(options: LaunchOptions) -> list[Problem]:
    workspace = open_workspace(options)
    problems = list(workspace.problems)
    for group in KINDS:
        workspace.registry.collect(group)
    return problems + [problem for problem in workspace.problems[len(problems) :] if problem.file is not None]


def _of_file(file: Path) -> Iterator[Problem]:
    try:
        document = read_document("user", file.absolute())
    except Unusable as error:
        yield Problem(f"{error}.", file=file, level="error")
        return
    if document is None:
        raise SettingsError(f"There is no file {file}.")
    document, wrong = checked(document)
    yield from wrong
    yield from repeated_keys(document)
    yield from unknown_keys(document)
    yield from sound_hooks(document)[1]
    yield from rules_of([document], project=file.parent, config_dir=file.parent)[1]
    yield from plugin_settings([document], trusted=True)[1]


def _problem(problem: Problem) -> dict[str, Any]:
    file = str(problem.file) if problem.file else None
    return {"level": problem.level, "text": problem.text, "plugin": problem.plugin or None, "file": file}
