"""Reading transcripts: the conversation of a session, repaired where a crash cut it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from toolpost import SessionError
from toolpost_core.session.transcript import REPLACEMENT, REWIND

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from toolpost import ContentBlock, Message, ToolResultBlock

INTERRUPTED = "The call was interrupted before it had a result: the program ended. It may have had effects."


@dataclass(frozen=True)
class History:
    """A session as its file has it. `leaf` is the uuid of the newest record of the chain, `path` the file."""

    session_id: str
    messages: tuple[Message, ...]
    leaf: str | None
    cwd: Path | None = None
    records: tuple[Mapping[str, Any], ...] = ()
    warnings: tuple[str, ...] = ()
    path: Path | None = None


def read(path: Path) -> History:
    """Read a transcript. Lines that are cut off or damaged are passed over and named. Raises SessionError."""
    try:
        lines = path.read_text(encoding="utf-8", errors="surrogateescape").split("\n")
    except OSError as error:
        raise SessionError(f"The session file {path} can't be read: {error.strerror}.") from error
    records, bad = _parsed(lines)
    chain = chain_of(records)
    if lines != [""] and not any(map(_is_message, records)):
        raise SessionError(
            f"The session file {path} holds no conversation: none of its {len(lines)} lines is a message."
        )
    warnings = [f"{path.name}: line {number} is damaged and was passed over" for number in bad]
    messages = repaired(conversation_of(chain, records))
    last = chain[-1] if chain else {}
    cwd = last.get("cwd")
    return History(
        session_id=str(last.get("sessionId", path.stem)),
        messages=messages,
        leaf=last.get("uuid"),
        cwd=Path(cwd) if isinstance(cwd, str) else None,
        records=tuple(records),
        warnings=tuple(warnings),
        path=path,
    )


def records_of(path: Path, kind: str = "") -> list[Mapping[str, Any]]:
    """Read a transcript's records, or those of a type; damaged lines are passed over. Raises SessionError."""
    try:
        with path.open(encoding="utf-8", errors="surrogateescape") as lines:
            return _parsed(line for line in lines if kind in line)[0]
    except OSError as error:
        raise SessionError(f"The session file {path} can't be read: {error.strerror}.") from error


def chain_of(records: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Walk from the newest message to the root; where a link is missing, go on with the record before in the file.

    Where the conversation was rewound after the newest message, it ends at what it went back to.
    """
    messages: list[Mapping[str, Any]] = []
    place: dict[str, int] = {}
    index = -1
    for record in records:
        if _is_message(record):
            index = place[str(record.get("uuid"))] = len(messages)
            messages.append(record)
        elif record.get("type") == REWIND:
            index = place.get(str(record.get("leafUuid")), -1)
    chain: list[Mapping[str, Any]] = []
    while index >= 0:
        record = messages[index]
        chain.append(record)
        parent = record.get("parentUuid")
        before = place.get(str(parent), index - 1) if parent is not None else -1
        index = before if before < index else index - 1
    chain.reverse()
    return chain


def conversation_of(chain: Sequence[Mapping[str, Any]], records: Sequence[Mapping[str, Any]]) -> list[Message]:
    """Return the messages of a chain; `records` say what is sent in the place of long results."""
    return _messages(chain, _replacements(records))


def _is_message(record: Mapping[str, Any]) -> bool:
    return record.get("type") in ("user", "assistant") and isinstance(record.get("message"), dict)


def repaired(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Return the messages so that the service takes them: every call has its one result, and no result is without call.

    A call without a result gets one that says it was interrupted; messages of one role in a row are joined; what comes
    before the first message of the user is dropped, and so are thoughts that nothing followed and calls made twice.
    """
    result: list[Message] = []
    open_calls: list[str] = []
    seen: set[str] = set()
    for message in _merged(messages):
        if message["role"] == "user":
            content, open_calls = _answered(_blocks(message), open_calls), []
        elif not result:
            continue
        else:
            content = _spoken(_blocks(message), seen)
            open_calls = open_calls + _asked(content)
        if content:
            _add(result, message["role"], content)
    if open_calls:
        _add(result, "user", _answered([], open_calls))
    return tuple(result)


def _merged(messages: Sequence[Message]) -> list[Message]:
    merged: list[Message] = []
    for message in messages:
        if content := _without_last_thoughts(_blocks(message)):
            _add(merged, message["role"], content)
    return merged


def _add(messages: list[Message], role: Literal["user", "assistant"], content: Sequence[ContentBlock]) -> None:
    """Append a message, or its content to the last one where the role is the same."""
    if messages and messages[-1]["role"] == role:
        messages[-1] = {"role": role, "content": [*_blocks(messages[-1]), *content]}
    else:
        messages.append({"role": role, "content": list(content)})


def _spoken(content: Sequence[ContentBlock], seen: set[str]) -> list[ContentBlock]:
    """Leave out calls whose id was seen before, and thoughts at the end."""
    kept: list[ContentBlock] = []
    for block in content:
        if block["type"] == "tool_use":
            name = str(cast("Mapping[str, Any]", block).get("id"))
            if name in seen:
                continue
            seen.add(name)
        kept.append(block)
    return _without_last_thoughts(kept)


def _without_last_thoughts(content: list[ContentBlock]) -> list[ContentBlock]:
    end = len(content)
    while end and content[end - 1]["type"] in ("thinking", "redacted_thinking"):
        end -= 1
    return content[:end]


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


def _asked(content: Sequence[ContentBlock]) -> list[str]:
    return [str(cast("Mapping[str, Any]", block).get("id")) for block in content if block["type"] == "tool_use"]


def _parsed(lines: Iterable[str]) -> tuple[list[Mapping[str, Any]], list[int]]:
    records: list[Mapping[str, Any]] = []
    bad: list[int] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            bad.append(number)
            continue
        if isinstance(record, dict):
            records.append(record)
        else:
            bad.append(number)
    return records, bad


def _replacements(records: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return what stands in the place of results that were too long beside others, by the id of their call."""
    found = (record for record in records if record.get("type") == REPLACEMENT)
    return {str(record.get("toolUseId")): record.get("content") for record in found}


def _messages(chain: Sequence[Mapping[str, Any]], replacements: Mapping[str, Any]) -> list[Message]:
    """Put the records of one answer back into one message, also where results were written before its last blocks."""
    messages: list[Message] = []
    answer, place = "", 0  # the last answer and where it stands; a word of the user ends it
    for record in chain:
        message = cast("Mapping[str, Any]", record["message"])
        role: Literal["user", "assistant"] = "assistant" if record["type"] == "assistant" else "user"
        content = [_replaced(block, replacements) for block in _blocks(message)]
        if role == "assistant" and answer and answer == str(message.get("id")):
            messages[place] = {"role": role, "content": [*_blocks(messages[place]), *content]}
            continue
        if role == "assistant":
            answer, place = str(message.get("id") or ""), len(messages)
        elif any(block["type"] != "tool_result" for block in content):
            answer = ""
        messages.append({"role": role, "content": content})
    return messages


def _replaced(block: ContentBlock, replacements: Mapping[str, Any]) -> ContentBlock:
    name = str(cast("Mapping[str, Any]", block).get("tool_use_id"))
    return {**block, "content": replacements[name]} if name in replacements else block


def _blocks(message: Mapping[str, Any]) -> list[ContentBlock]:
    """Return the content as blocks, without what is no block and what the service refuses."""
    content = message.get("content")
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    return [block for block in content if _is_block(block)] if isinstance(content, list) else []


def _is_block(block: object) -> bool:
    match block:
        case {"type": "text", "text": text}:
            return isinstance(text, str) and bool(text.strip())
        case {"type": "tool_use", "id": str(), "name": str(), "input": dict()}:
            return True
        case {"type": "tool_result", "tool_use_id": str()}:
            return True
        case {"type": str(kind)}:
            return kind not in ("text", "tool_use", "tool_result")
    return False
