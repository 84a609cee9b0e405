"""What a transcript tells of earlier points of its session: the prompts, and the conversation before each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from toolpost import SentPrompt, SessionError
from toolpost_core.loop.turn import INTERRUPTED
from toolpost_core.session.history import chain_of, conversation_of, records_of, repaired

if TYPE_CHECKING:
    from pathlib import Path

    from toolpost import Message


@dataclass(frozen=True)
class Past:
    """The conversation before a prompt, the uuid of its last record, and the prompt with its text."""

    messages: tuple[Message, ...]
    leaf: str | None
    prompt: str
    text: str


def before(path: Path, message_id: str) -> Past:
    """Read the conversation as it was before the prompt whose turn a message belongs to. Raises SessionError."""
    records = records_of(path)
    chain = chain_of(records)
    prompt = turn_of(records, message_id)
    place = next((index for index, record in enumerate(chain) if record.get("uuid") == prompt), None)
    if prompt is None or place is None:
        raise SessionError(
            f"The conversation holds no message {message_id[:80]!r}: it went back to before it, or never had it."
        )
    return Past(
        messages=repaired(conversation_of(chain[:place], records)),
        leaf=str(chain[place - 1]["uuid"]) if place else None,
        prompt=prompt,
        text=_prompt_text(chain[place]) or "",
    )


def turn_of(records: Sequence[Mapping[str, Any]], message_id: str) -> str | None:
    """Return the id of the prompt whose turn a message belongs to; None for an unknown message."""
    last = None
    for record in records:
        if "uuid" in record and _prompt_text(record) is not None:
            last = str(record["uuid"])
        if record.get("uuid") == message_id:
            return last
    return None


def prompts_in(records: Sequence[Mapping[str, Any]]) -> list[SentPrompt]:
    """Return the prompts among a transcript's records; those that its conversation does not hold are `rewound`."""
    current = {record.get("uuid") for record in chain_of(records)}
    return [
        SentPrompt(
            id=str(record["uuid"]),
            text=text,
            time=str(record.get("timestamp", "")),
            rewound=record["uuid"] not in current,
        )
        for record in records
        if "uuid" in record and (text := _prompt_text(record)) is not None
    ]


def _prompt_text(record: Mapping[str, Any]) -> str | None:
    """Return what a person or program said in a record; None for any other record.

    Records of other programs do not say where the prompt begins: there it is the last text of what holds no result.
    """
    message = record.get("message")
    if record.get("type") != "user" or not isinstance(message, Mapping):
        return None
    if record.get("isMeta") or record.get("isSidechain") or record.get("isCompactSummary"):
        return None
    content = message.get("content")
    blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
    at = record.get("promptAt")
    if isinstance(at, int):
        return "\n".join(_texts(blocks[at:]))
    if any(isinstance(block, Mapping) and block.get("type") == "tool_result" for block in blocks):
        return None
    texts = [text for text in _texts(blocks) if text != INTERRUPTED]
    return texts[-1] if texts else None


def _texts(blocks: Sequence[Any]) -> list[str]:
    return [
        block["text"]
        for block in blocks
        if isinstance(block, Mapping) and block.get("type") == "text" and isinstance(block.get("text"), str)
    ]
