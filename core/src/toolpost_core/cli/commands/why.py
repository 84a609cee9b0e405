"""`toolpost why`: the record of a permission decision."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from toolpost import LaunchOptions, SessionError
from toolpost_core.cli.output import one_line, print_json
from toolpost_core.cli.workspace import Workspace, open_workspace, with_options
from toolpost_core.transcripts.reading import records_in
from toolpost_core.transcripts.store import Store


@click.command()
@click.argument("which", default="last")
@click.option("--session", metavar="ID", help="The session to look into; else this folder's, the newest first.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@with_options
def why(which: str, session: str | None, options: LaunchOptions, as_json: bool) -> None:
    """Why a call was allowed or refused: the last one, or that with this tool use id."""
    record = _find(open_workspace(options), which, session)
    if as_json:
        print_json(record)
        return
    print(f"{record.get('toolName')} {one_line(json.dumps(record.get('requestedInput'), ensure_ascii=False))}")
    if record.get("effectiveInput") != record.get("requestedInput"):
        print(f"  ran with {one_line(json.dumps(record.get('effectiveInput'), ensure_ascii=False))}")
    print(f"{record.get('final') or record.get('decision')}: {record.get('reason')}")
    for opinion in record.get("trace", ()):
        rule = f", rule {opinion['rule']} ({_place(opinion)})" if opinion.get("rule") else ""
        dropped = f" (did not count: {opinion['dropped']})" if opinion.get("dropped") else ""
        print(f"  {opinion.get('by')}: {opinion.get('decision')}{rule}: {opinion.get('reason')}{dropped}")


def _find(workspace: Workspace, which: str, session: str | None) -> dict[str, Any]:
    store, project = Store(workspace.places.config_dir), workspace.places.project
    files = [store.find(session, project)] if session else [found.path for found in store.of(project)]
    for file in files:
        found = [record for record in _decisions(file) if which in ("last", record.get("toolUseId"))]
        if found:
            return {**found[-1], "session": file.stem}
    what = "No decision was recorded" if which == "last" else f"No decision on a call {which!r} was recorded"
    where = f"in session {session}" if session else f"in the sessions of {project}"
    raise SessionError(f"{what} {where}. `toolpost sessions list` shows the sessions.")


def _decisions(file: Path) -> Iterator[Mapping[str, Any]]:
    return records_in(file, "permission-decision")


def _place(opinion: dict[str, Any]) -> str:
    line = f":{opinion['line']}" if opinion.get("line") else ""
    return f"{opinion['file']}{line}" if opinion.get("file") else str(opinion.get("source"))
