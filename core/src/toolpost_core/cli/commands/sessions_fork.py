"""`toolpost sessions fork`."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING
from uuid import uuid4

import click

from toolpost import LaunchOptions, SessionError
from toolpost_core import __version__
from toolpost_core.cli.exits import complain
from toolpost_core.cli.output import print_json
from toolpost_core.cli.workspace import open_workspace, with_options
from toolpost_core.transcripts.history import read
from toolpost_core.transcripts.store import Store
from toolpost_core.transcripts.transcript import Transcript

if TYPE_CHECKING:
    from toolpost_core.transcripts.history import History


@click.command()
@click.argument("session")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@with_options
def fork(session: str, options: LaunchOptions, as_json: bool) -> None:
    """Copy a session, also one that is in use, and print the id of the copy; both go on by themselves."""
    places = open_workspace(options).places
    path = Store(places.config_dir).find(session, places.project)
    history = replace(read(path), session_id=path.stem)
    for warning in history.warnings:
        complain(f"warning: {warning}")
    copy = str(uuid4())
    file = path.with_name(f"{copy}.jsonl")
    _copy(history, copy, file)
    if as_json:
        print_json({"id": copy, "file": str(file), "forked_from": history.session_id})
        return
    print(copy)
    complain(f"to go on in it: toolpost --resume {copy}")


def _copy(history: History, copy: str, file: Path) -> None:
    """Write the copy of a session. Raises SessionError where that can't be, and leaves no part of one then."""
    transcript = Transcript(file, copy, __version__, lambda _: None)
    transcript.fork(history)
    transcript.close()
    if transcript.failure:
        with suppress(OSError):
            file.unlink()
        rmtree(file.with_suffix(""), ignore_errors=True)
        raise SessionError(f"The copy {file} can't be written: {transcript.failure}.")
