"""What a transcript tells of earlier points of its session: the prompts, and the conversation before each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from toolpost import SentPrompt, SessionError
from toolpost._frozen import frozen
from toolpost_core.loop.turn import INTERRUPTED
from toolpost_core.transcripts.chain import Links
from toolpost_core.transcripts.history import conversation_of
from toolpost_core.transcripts.kinds import REPLACEMENT
from toolpost_core.transcripts.mending import repaired
from toolpost_core.transcripts.reading import records_in
from toolpost_core.transcripts.spilling import whole
from toolpost_core.transcripts.thoughts import sent_on

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from toolpost import Message


@frozen()
class Past:
    """The conversation before a prompt, the uuid of its last record, and the prompt with its text."""

    messages: tuple[Message, ...]
    leaf: str | None
    prompt: str
    text: str


def before(path: Path, message_id: str) -> Past:
    """Read the conversation as it was before the prompt whose turn a message belongs to. Raises SessionError."""
    links, uuids = Links(), list[str]()
    for record in records_in(path):
        links.add(record)
        uuids.append(str(record.get("uuid")))
    chain = links.chain()
    prompt = turn_of(records_in(path), message_id)
    place = next((index for index, position in enumerate(chain) if uuids[position] == prompt), None)
    if prompt is None or place is None:
        raise SessionError(
            f"The conversation holds no message {message_id[:80]!r}: it went back to before it, or never had it."
        )
    *told, asked = _picked(path, chain[: place + 1])
    replacements = records_in(path, REPLACEMENT)
    return Past(
        messages=repaired(conversation_of(sent_on(told, records_in(path)), replacements)),
        leaf=str(told[-1]["uuid"]) if told else None,
        prompt=prompt,
        text=prompt_text(asked) or "",
    )


def turn_of(records: Iterable[Mapping[str, Any]], message_id: str) -> str | None:
    """Return the id of the prompt whose turn a message belongs to; None for an unknown message."""
    last = None
    for record in records:
        if "uuid" in record and prompt_text(record) is not None:
            last = str(record["uuid"])
        if record.get("uuid") == message_id:
            return last
    return None


def prompts_in(records: Iterable[Mapping[str, Any]]) -> list[SentPrompt]:
    """Return the prompts among a transcript's records; those that its conversation does not hold are `rewound`."""
    links, found = Links(), list[tuple[int, SentPrompt]]()
    for position, record in enumerate(records):
        links.add(record)
        if "uuid" in record and (text := prompt_text(record)) is not None:
            time = str(record.get("timestamp", ""))
            found.append((position, SentPrompt(id=str(record["uuid"]), text=text, time=time, rewound=True)))
    current = set(links.chain())
    return [replace(prompt, rewound=False) if position in current else prompt for position, prompt in found]


def _picked(path: Path, positions: Iterable[int]) -> list[Mapping[str, Any]]:
    """Read the records at some positions, in the order of these."""
    wanted = list(positions)
    places = frozenset(wanted)
    found = {position: whole(record, path) for position, record in enumerate(records_in(path)) if position in places}
    return [found[position] for position in wanted]


def prompt_text(record: Mapping[str, Any]) -> str | None:
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
