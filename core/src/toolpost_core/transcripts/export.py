"""A session as something to hand on: its conversation, as data and as Markdown."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from toolpost import SessionError
from toolpost_core.transcripts.chain import Links, is_boundary
from toolpost_core.transcripts.listing import look
from toolpost_core.transcripts.mending import sound_blocks
from toolpost_core.transcripts.reading import records_in
from toolpost_core.transcripts.spilling import whole

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path


def exported(path: Path) -> dict[str, Any]:
    """Return a session's conversation from its beginning, also what was before a compaction. Raises SessionError."""
    links = Links(records_in(path))
    chain = frozenset(links.chain())
    told = [whole(record, path) for position, record in enumerate(records_in(path)) if position in chain]
    session = look(path)
    if session is None or not told:
        raise SessionError(f"The session file {path} holds no conversation.")
    return {
        "id": session.id,
        "title": session.title,
        "project": str(session.project) if session.project else None,
        "branch": session.branch or None,
        "created": session.created,
        "forkedFrom": session.forked_from or None,
        "messages": [_message(record) for record in told if is_boundary(record) or not _is_copy(record)],
    }


def markdown(session: Mapping[str, Any]) -> str:
    """Return what `exported` does as Markdown."""
    facts = [("Session", session["id"]), ("Folder", session["project"]), ("Branch", session["branch"])]
    facts += [("Began", session["created"]), ("Copied from", session["forkedFrom"])]
    head = [f"# {session['title'] or 'A session'}", "\n".join(f"- {name}: {value}" for name, value in facts if value)]
    return "\n\n".join([*head, *_said(session["messages"])]) + "\n"


def _is_copy(record: Mapping[str, Any]) -> bool:
    """Whether a record repeats what was said before a compaction."""
    return "boundaryUuid" in record and not record.get("isCompactSummary")


def _message(record: Mapping[str, Any]) -> dict[str, Any]:
    facts = {"uuid": record.get("uuid"), "time": record.get("timestamp")}
    if is_boundary(record):
        return {"role": "system", **facts, "compacted": record.get("compactMetadata") or True, "content": []}
    message = record["message"]
    flags = {"summary": True} if record.get("isCompactSummary") else {"meta": True} if record.get("isMeta") else {}
    model = {"model": message["model"]} if message.get("model") else {}
    return {"role": record["type"], **facts, **model, **flags, "content": sound_blocks(message)}


def _said(messages: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    speaker = ""
    for message in messages:
        if message["role"] == "system":
            yield "---\n\n*The conversation was compacted here.*"
            speaker = ""
            continue
        name = _speaker(message)
        if name and name != speaker:
            yield f"## {name}"
            speaker = name
        yield from filter(None, map(_block, message["content"]))


def _speaker(message: Mapping[str, Any]) -> str:
    """Return who speaks; nobody where a message holds results only."""
    if all(block["type"] == "tool_result" for block in message["content"]):
        return ""
    if message.get("summary"):
        return "Summary"
    return "Assistant" if message["role"] == "assistant" else "Toolpost" if message.get("meta") else "User"


def _block(block: Mapping[str, Any]) -> str:
    match block:
        case {"type": "text", "text": str(text)}:
            return text.strip()
        case {"type": "thinking", "thinking": str(text)}:
            return _folded("Thinking", text) if text.strip() else ""
        case {"type": "tool_use", "name": name, "input": given}:
            return f"**{name}**\n\n{_fenced(json.dumps(given, ensure_ascii=False, indent=2), 'json')}"
        case {"type": "tool_result", "content": content}:
            return _folded("Failed" if block.get("is_error") else "Result", _text(content))
        case {"type": kind}:
            return f"*[{kind}]*"
    return ""


def _text(content: object) -> str:
    if isinstance(content, list):
        return "\n".join(str(part.get("text") or f"[{part.get('type')}]") for part in content)
    return str(content)


def _folded(title: str, text: str) -> str:
    return f"<details><summary>{title}</summary>\n\n{_fenced(text)}\n\n</details>"


def _fenced(text: str, language: str = "") -> str:
    """Put a text between fences that are longer than any in it."""
    longest = max(map(len, re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"
