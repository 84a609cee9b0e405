"""`toolpost trust`: the folders whose own settings may start and allow things."""

from __future__ import annotations

import os
from pathlib import Path

import click

from toolpost_core.cli.output import print_json, print_table
from toolpost_core.settings.places import config_dir
from toolpost_core.settings.trust import answer, answers

FOLDER = click.argument("folder", type=click.Path(path_type=Path), default=Path(), required=False)


@click.group()
def trust() -> None:
    """Folders that you trust: list, add and remove.

    The settings of a folder that is not trusted can forbid things, but start, send and allow nothing.
    """


@trust.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_(as_json: bool) -> None:
    """Every folder that you were asked about, and what you said."""
    said = sorted(answers(config_dir(os.environ)).items())
    if as_json:
        print_json([{"folder": str(folder), "trusted": trusted} for folder, trusted in said])
        return
    rows = [("trusted" if trusted else "declined", folder) for folder, trusted in said]
    print_table(("ANSWER", "FOLDER"), rows, "No folder is trusted yet.")


@trust.command()
@FOLDER
def add(folder: Path) -> None:
    """Trust a folder, by default the current one; folders in it are asked about on their own."""
    if not folder.is_dir():
        raise click.UsageError(f"There is no folder {folder}.")
    news = answer(config_dir(os.environ), folder, trusted=True)
    print(f"{folder.resolve()} is {'now' if news else 'already'} trusted.")


@trust.command()
@FOLDER
def remove(folder: Path) -> None:
    """Forget what you said of a folder: it is not trusted, and you are asked again."""
    news = answer(config_dir(os.environ), folder, trusted=None)
    print(f"{folder.resolve()} is {'no longer' if news else 'not'} among the folders that you were asked about.")
