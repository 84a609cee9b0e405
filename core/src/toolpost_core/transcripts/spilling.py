"""Messages that are too long for a line of the transcript lie in a file beside it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from toolpost_core.transcripts.lines import LONG, line_of
from toolpost_core.transcripts.locks import make_private

if TYPE_CHECKING:
    from pathlib import Path

FOLDER: Final = "messages"
SHOWN: Final = 500
"""Characters of each text that stay in the line, for those who list sessions."""
BLOCKS: Final = 50


def spilled(record: Mapping[str, Any], transcript: Path) -> dict[str, Any]:
    """Write a record's message into a file of its own; return the record that names it. Raises OSError.

    What a tool returned beside its result is left out where the record is too long because of it: nobody resumes with it.
    """
    name = f"{FOLDER}/{_plain(str(record['uuid']))}.json"
    file = transcript.with_suffix("") / name
    make_private(file.parent)
    file.touch(0o600)
    file.write_bytes(line_of(record["message"]))
    beginnings = [{"type": "text", "text": text[:SHOWN]} for text in _texts(record["message"])[:BLOCKS]]
    short = {**record, "message": {**record["message"], "content": beginnings}, "messageFile": name}
    return short if len(line_of(short)) <= LONG else {key: short[key] for key in short if key != "toolUseResult"}


def whole(record: Mapping[str, Any], transcript: Path) -> Mapping[str, Any]:
    """Return a record with its message, wherever that lies; of one that is gone, what the line has of it."""
    name = record.get("messageFile")
    if not isinstance(name, str) or not isinstance(record.get("message"), Mapping):
        return record
    file = transcript.with_suffix("") / FOLDER / name.rpartition("/")[2]
    try:
        message = json.loads(file.read_bytes().decode("utf-8", "surrogateescape"))
    except (OSError, ValueError, RecursionError):
        told = f"[The rest of this message is gone: {file} can't be read.]"
        texts = [{"type": "text", "text": text} for text in (*_texts(record["message"]), told)]
        message = {**record["message"], "content": texts}
    return {key: value for key, value in record.items() if key != "messageFile"} | {"message": message}


def _plain(uuid: str) -> str:
    return "".join(char if char.isalnum() or char in "-_" else "_" for char in uuid)[:100]


def _texts(message: Mapping[str, Any]) -> list[str]:
    """Return a text for each block: its own, or what kind of block it is."""
    content = message.get("content")
    if isinstance(content, str):
        return [content]
    blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
    return [str(block.get("text") or f"[{block.get('type')}]") for block in blocks]
