"""`toolpost plugins new`: a distribution to begin with."""

from __future__ import annotations

import shlex
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

from toolpost import PluginError
from toolpost_core.cli.output import print_json
from toolpost_core.plugins.scaffold import KINDS, LICENSES, Author, names_for, render, write


class _KindName(click.Choice[str]):
    """The word for a kind, or the name of its group as `plugins list` shows it."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        groups = {kind.group: name for name, kind in reversed([*KINDS.items()])}
        return super().convert(groups.get(str(value), str(value).replace("_", "-")), param, ctx)


@click.command()
@click.argument("name")
@click.option("--kind", type=_KindName(list(KINDS)), required=True, help="What it is to be.")
@click.option("--dir", "folder", type=click.Path(path_type=Path), help="The project's folder; ./NAME unless given.")
@click.option("--license", type=click.Choice(LICENSES, case_sensitive=False), default=LICENSES[0], show_default=True)
@click.option("--author", default="", metavar="'NAME <ADDRESS>'", help="Who it is by.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def new(name: str, kind: str, folder: Path | None, license: str, author: str, as_json: bool) -> None:
    """Write the distribution of a new plugin, with tests that pass."""
    try:
        names = names_for(name, KINDS[kind].group)
        by = Author.parse(author)
    except PluginError as error:
        raise click.UsageError(str(error)) from None
    place = Path.cwd() / (folder or names.distribution)
    texts = render(kind, names, license=license, author=by)
    write(place, texts)
    steps = _next_steps(place, names.distribution)
    if as_json:
        made = {"distribution": names.distribution, "package": names.package, "kind": kind, "folder": str(place)}
        print_json({**made, "files": sorted(texts), "next": steps})
        return
    print(f"Wrote {names.distribution}, a plugin of the kind {kind}, to {place}:")
    print("\n".join(f"  {path}" for path in sorted(texts)))
    print("Next:")
    print("\n".join(f"  {what:8} {command}" for what, command in steps.items()))


def _next_steps(place: Path, distribution: str) -> dict[str, str]:
    """Return commands that work as they are: they install into the environment that this one runs in."""
    here = Path.cwd()
    project = f"./{place.relative_to(here)}" if place.is_relative_to(here) else str(place)
    install = [sys.executable, "-m", "pip", "install"]
    if find_spec("pip") is None:
        install = ["uv", "pip", "install", "--python", sys.executable]
    return {
        "install": shlex.join([*install, "--editable", f"{project}[testing]"]),
        "enable": shlex.join(["toolpost", "plugins", "enable", distribution]),
        "test": shlex.join([sys.executable, "-m", "pytest", project]),
    }
