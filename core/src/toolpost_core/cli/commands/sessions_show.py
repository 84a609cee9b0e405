"""`toolpost sessions show`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from textwrap import indent
from typing import Any

import click

from toolpost import LaunchOptions
from toolpost_core.cli.commands.sessions_newer import warn_of_newer
from toolpost_core.cli.output import one_line, print_json
from toolpost_core.cli.workspace import open_workspace, with_options
from toolpost_core.transcripts.chain import Links, is_boundary, is_own
from toolpost_core.transcripts.reading import records_in, records_of
from toolpost_core.transcripts.spilling import whole
from toolpost_core.transcripts.store import Store


@click.command()
@click.argument("session")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@with_options
def show(session: str, options: LaunchOptions, as_json: bool) -> None:
    """What was said and done in a session; [left] marks what its conversation went back from."""
    places = open_workspace(options).places
    path = Store(places.config_dir).find(session, places.project)
    warn_of_newer(path)
    if as_json:
        print_json({"file": str(path), "records": records_of(path)})
        return
    current = frozenset(Links(records_in(path)).chain())
    for position, record in enumerate(records_in(path)):
        is_left = position not in current and is_own(record)
        for told in _told(whole(record, path)):
            print(indent(told, "[left] ", lambda _: True) if is_left else told)


def _told(record: Mapping[str, Any]) -> Iterator[str]:
    if is_boundary(record):
        yield "[compacted]"
    message = record.get("message")
    if record.get("type") not in ("user", "assistant") or not isinstance(message, dict):
        return
    if "boundaryUuid" in record and not record.get("isCompactSummary"):
        return  # it was shown before the compaction
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
