"""`toolpost sessions`: sessions that were kept."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from textwrap import indent
from typing import Any

import click

from toolpost import LaunchOptions, SessionError
from toolpost_core.cli.output import one_line, print_json, print_table
from toolpost_core.cli.workspace import open_workspace, with_options
from toolpost_core.session.history import chain_of
from toolpost_core.session.store import Store


@click.group()
def sessions() -> None:
    """Sessions that were kept."""


@sessions.command("list")
@click.option("--all", "every", is_flag=True, help="Those of all folders.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@with_options
def list_(options: LaunchOptions, every: bool, as_json: bool) -> None:
    """The sessions of this folder, the newest first."""
    places = open_workspace(options).places
    store = Store(places.config_dir)
    found = store.all() if every else store.of(places.project)
    if as_json:
        print_json(
            [
                {
                    "id": session.id,
                    "file": str(session.path),
                    "modified": _time(session.modified),
                    "bytes": session.size,
                    "project": str(session.project) if session.project else None,
                    "first_prompt": session.first_prompt,
                }
                for session in found
            ]
        )
        return
    rows = [(session.id, _time(session.modified), f"{session.size:,}", session.first_prompt) for session in found]
    print_table(("SESSION", "LAST CHANGE", "BYTES", "FIRST PROMPT"), rows, "No session was kept for this folder.")


@sessions.command()
@click.argument("session")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@with_options
def show(session: str, options: LaunchOptions, as_json: bool) -> None:
    """What was said and done in a session; [left] marks what its conversation went back from."""
    places = open_workspace(options).places
    path = Store(places.config_dir).find(session, places.project)
    records = list(read_records(path))
    if as_json:
        print_json({"file": str(path), "records": records})
        return
    current = {id(record) for record in chain_of(records)}
    for record in records:
        is_left = id(record) not in current and not record.get("isSidechain")
        for told in _told(record):
            print(indent(told, "[left] ", lambda _: True) if is_left else told)


def read_records(path: Path) -> Iterator[dict[str, Any]]:
    """Read a transcript's records; a line that was cut off is passed over. Raises SessionError."""
    try:
        with path.open(encoding="utf-8", errors="replace") as lines:
            for line in lines:
                try:
                    record = json.loads(line)
                except (ValueError, RecursionError):
                    continue
                if isinstance(record, dict):
                    yield record
    except OSError as error:
        raise SessionError(f"{path}: it can't be read: {error.strerror or error}.") from error


def _time(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds))


def _told(record: dict[str, Any]) -> Iterator[str]:
    message = record.get("message")
    if record.get("type") not in ("user", "assistant") or not isinstance(message, dict):
        return
    content = message.get("content")
    for block in content if isinstance(content, list) else [{"type": "text", "text": content}]:
        match block:
            case {"type": "text", "text": str(text)} if text.strip():
                yield f"{record['type']}: {_plain(text)}"
            case {"type": "tool_use", "name": name, "input": given}:
                yield f"  {name} {one_line(json.dumps(given, ensure_ascii=False))[:200]}"
            case {"type": "tool_result", "content": result}:
                failed = "failed: " if block.get("is_error") else ""
                yield f"    {failed}{one_line(str(result))[:200]}"


def _plain(text: str) -> str:
    """A text without characters that move a terminal's cursor; its lines are kept."""
    return "\n".join("".join(char for char in line if char.isprintable() or char == "\t") for line in text.splitlines())
