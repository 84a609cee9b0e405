"""Reading transcripts: the conversation of a session, repaired where a crash cut it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from toolpost import SessionError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from toolpost import ContentBlock, Message, ToolResultBlock

INTERRUPTED = "The call was interrupted before it had a result: the program ended. It may have had effects."


@dataclass(frozen=True)
class History:
    """A session as its file has it. `leaf` is the uuid of the newest record of the chain."""

    session_id: str
    messages: tuple[Message, ...]
    leaf: str | None
    cwd: Path | None = None
    records: tuple[Mapping[str, Any], ...] = ()
    warnings: tuple[str, ...] = ()


def read(path: Path) -> History:
    """Read a transcript. Lines that are cut off or damaged are passed over and named. Raises SessionError."""
    try:
        lines = path.read_text(encoding="utf-8", errors="surrogateescape").split("\n")
    except OSError as error:
        raise SessionError(f"The session file {path} can't be read: {error.strerror}.") from error
    records, bad = _parsed(lines)
    chain = _chain(records)
    if not chain and lines != [""]:
        raise SessionError(
            f"The session file {path} holds no conversation: none of its {len(lines)} lines is a message."
        )
    warnings = [f"{path.name}: line {number} is damaged and was passed over" for number in bad]
    messages = repaired(_messages(chain))
    last = chain[-1] if chain else {}
    cwd = last.get("cwd")
    return History(
        session_id=str(last.get("sessionId", path.stem)),
        messages=messages,
        leaf=last.get("uuid"),
        cwd=Path(cwd) if isinstance(cwd, str) else None,
        records=tuple(records),
        warnings=tuple(warnings),
    )


def repaired(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Return the messages so that the service takes them: every call has its one result, and no result is without call.

    A call without a result gets one that says it was interrupted; messages of one role in a row are joined.
    """
    merged: list[Message] = []
    for message in messages:
        if merged and merged[-1]["role"] == message["role"]:
            merged[-1] = {"role": message["role"], "content": [*_blocks(merged[-1]), *_blocks(message)]}
        else:
            merged.append(message)
    result: list[Message] = []
    open_calls: list[str] = []
    for message in merged:
        content = _blocks(message)
        if message["role"] == "user":
            content, open_calls = _answered(content, open_calls), []
        else:
            open_calls = _asked(message)
        if content:
            result.append({"role": message["role"], "content": content})
    if open_calls:
        result.append({"role": "user", "content": _answered([], open_calls)})
    return tuple(result)


def _answered(content: Sequence[ContentBlock], asked: Sequence[str]) -> list[ContentBlock]:
    """Order results as the calls were, add the missing, drop those that nobody asked for."""
    found: dict[str, ContentBlock] = {}
    rest: list[ContentBlock] = []
    for block in content:
        if block["type"] == "tool_result":
            found.setdefault(cast("ToolResultBlock", block)["tool_use_id"], block)
        else:
            rest.append(block)
    missing: dict[str, ContentBlock] = {
        call: {"type": "tool_result", "tool_use_id": call, "content": INTERRUPTED, "is_error": True} for call in asked
    }
    return [*(found.get(call, missing[call]) for call in asked), *rest]


def _asked(message: Message) -> list[str]:
    return [str(cast("Mapping[str, Any]", block)["id"]) for block in _blocks(message) if block["type"] == "tool_use"]


def _parsed(lines: Iterable[str]) -> tuple[list[Mapping[str, Any]], list[int]]:
    records: list[Mapping[str, Any]] = []
    bad: list[int] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except ValueError:
            bad.append(number)
            continue
        if isinstance(record, dict):
            records.append(record)
        else:
            bad.append(number)
    return records, bad


def _chain(records: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Walk from the newest message to the root; where a link is missing, go on with the record before in the file."""
    messages = [r for r in records if r.get("type") in ("user", "assistant") and isinstance(r.get("message"), dict)]
    place = {record.get("uuid"): index for index, record in enumerate(messages)}
    chain: list[Mapping[str, Any]] = []
    index = len(messages) - 1
    while index >= 0:
        record = messages[index]
        chain.append(record)
        parent = record.get("parentUuid")
        before = place.get(parent, index - 1) if parent is not None else -1
        index = before if before < index else index - 1
    chain.reverse()
    return chain


def _messages(chain: Sequence[Mapping[str, Any]]) -> list[Message]:
    """Put the records of one answer back into one message, also where results were written before its last blocks."""
    messages: list[Message] = []
    answers: dict[str, int] = {}
    for record in chain:
        message = cast("Mapping[str, Any]", record["message"])
        role: Literal["user", "assistant"] = "assistant" if record["type"] == "assistant" else "user"
        content = _blocks({"role": role, "content": message.get("content", "")})
        known = answers.get(str(message.get("id"))) if role == "assistant" and message.get("id") else None
        if known is not None:
            messages[known] = {"role": role, "content": [*_blocks(messages[known]), *content]}
            continue
        if role == "assistant" and message.get("id"):
            answers[str(message["id"])] = len(messages)
        messages.append({"role": role, "content": content})
    return messages


def _blocks(message: Message) -> list[ContentBlock]:
    content = message["content"]
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return list(content)
