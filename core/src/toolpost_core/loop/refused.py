"""A block that the service refuses: found by what the error says, and replaced by words. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, cast

from toolpost._frozen import frozen
from toolpost_core.loop.messages import THOUGHTS, blocks_of, without_thoughts

if TYPE_CHECKING:
    from toolpost import ContentBlock, Message, ProviderError

MEDIA: Final[Mapping[str, str]] = {"image": "An image", "document": "A document"}
REASON_CHARS: Final = 300


@frozen()
class Mended:
    """Messages without what was refused. `blocks` are the old ones with the new; where there are none, thoughts went."""

    messages: tuple[Message, ...]
    blocks: tuple[tuple[ContentBlock, ContentBlock], ...] = ()


def without_refused(messages: tuple[Message, ...], error: ProviderError) -> Mended | None:
    """Return the messages with words where the refused block was; None where it can't be told or replaced."""
    place = error.message_index
    if place is None:
        return _without_newest_media(messages, error)
    if place >= len(messages):
        return None
    blocks, index = blocks_of(messages[place]), error.content_index
    if index is None:
        return _exchanged(messages, place, [block for block in blocks if _holds_media(block)], error)
    guilty = blocks[index : index + 1]
    if guilty and guilty[0]["type"] in THOUGHTS:  # their signatures hold for all of them or for none
        return Mended(without_thoughts(messages))
    return _exchanged(messages, place, guilty, error)


def _without_newest_media(messages: tuple[Message, ...], error: ProviderError) -> Mended | None:
    """Replace the pictures and documents of the newest message that has any: those before were taken already."""
    for place in range(len(messages) - 1, -1, -1):
        if guilty := [block for block in blocks_of(messages[place]) if _holds_media(block)]:
            return _exchanged(messages, place, guilty, error)
    return None


def _exchanged(
    messages: tuple[Message, ...], place: int, guilty: Sequence[ContentBlock], error: ProviderError
) -> Mended | None:
    pairs = [(old, new) for old in guilty if (new := _replaced(old, error)) is not None]
    if not pairs:
        return None
    message = messages[place]
    content = [next((new for old, new in pairs if old is block), block) for block in blocks_of(message)]
    changed: Message = {"role": message["role"], "content": content}
    return Mended((*messages[:place], changed, *messages[place + 1 :]), tuple(pairs))


def _replaced(block: ContentBlock, error: ProviderError) -> ContentBlock | None:
    """Return what stands in a block's place. A call stays as it is: its result needs it."""
    if block["type"] == "tool_use":
        return None
    if block["type"] != "tool_result":
        return _words_for(block["type"], error)
    if not _holds_media(block):
        return _with_content(block, [_words_for("", error)])
    content = cast("Any", block)["content"]
    return _with_content(block, [_words_for(p["type"], error) if p["type"] in MEDIA else p for p in content])


def _with_content(block: ContentBlock, content: Sequence[Any]) -> ContentBlock:
    return cast("ContentBlock", {**block, "content": content})


def _words_for(kind: str, error: ProviderError) -> ContentBlock:
    what = MEDIA.get(kind, "Something")
    return {"type": "text", "text": f"[{what} stood here, which the service refused: {str(error)[:REASON_CHARS]}]"}


def _holds_media(block: ContentBlock) -> bool:
    content = cast("Mapping[str, Any]", block).get("content")
    inner = content if isinstance(content, list) else []
    return block["type"] in MEDIA or any(part.get("type") in MEDIA for part in inner)
