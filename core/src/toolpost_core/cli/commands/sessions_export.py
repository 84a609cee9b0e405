"""`toolpost sessions export`."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Literal

import click

from toolpost import LaunchOptions, SessionError
from toolpost_core.cli.commands.sessions_newer import warn_of_newer
from toolpost_core.cli.output import print_json
from toolpost_core.cli.workspace import open_workspace, with_options
from toolpost_core.transcripts.export import exported, markdown
from toolpost_core.transcripts.redaction import Redactor
from toolpost_core.transcripts.store import Store


@click.command()
@click.argument("session")
@click.option("--format", "form", type=click.Choice(("markdown", "json")), help="Else what the name of the file says.")
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@click.option("--output", "-o", type=click.Path(dir_okay=False, path_type=Path), help="A file instead of the output.")
@click.option("--with-secrets", is_flag=True, help="Leave in what looks like a secret.")
@with_options
def export(
    session: str,
    options: LaunchOptions,
    form: Literal["markdown", "json"] | None,
    as_json: bool,
    output: Path | None,
    with_secrets: bool,
) -> None:
    """A session as Markdown or JSON.

    What looks like a secret is left out, and so are the values of environment variables whose names say so: no rule knows
    all of them, so look before you hand it on.
    """
    workspace = open_workspace(options)
    path = Store(workspace.places.config_dir).find(session, workspace.places.project)
    warn_of_newer(path)
    said = exported(path)
    if not with_secrets:
        said = Redactor.of({**os.environ, **workspace.settings.get("env", {})})(said)
    wants_json = as_json or form == "json" or (form is None and output is not None and output.suffix == ".json")
    if output is not None:
        _write(output, json.dumps(said, ensure_ascii=False, indent=2) + "\n" if wants_json else markdown(said))
    elif wants_json:
        print_json(said)
    else:
        sys.stdout.write(markdown(said).encode("utf-8", "replace").decode())


def _write(output: Path, text: str) -> None:
    try:
        output.write_text(text, encoding="utf-8", errors="replace")
    except OSError as error:
        raise SessionError(f"{output} can't be written: {error.strerror or error}.") from error
