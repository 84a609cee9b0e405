"""Messages as the service takes them: every call with its one result, roles in turn, no block that it refuses."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal, cast

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolpost import ContentBlock, Message, ToolResultBlock

NOT_IN_RESULTS: Final = ("tool_use", "tool_result", "thinking", "redacted_thinking")
NOT_OF: Final = MappingProxyType(
    {"user": ("tool_use", "thinking", "redacted_thinking"), "assistant": ("tool_result", "image", "document")}
)
"""The blocks that the service refuses of each role."""
INTERRUPTED = "The call was interrupted before it had a result: the program ended. It may have had effects."


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
            content, open_calls = _answered(sound_blocks(message), open_calls), []
        elif not result:
            continue
        else:
            content = _spoken(sound_blocks(message), seen)
            open_calls = open_calls + _asked(content)
        if content:
            _add(result, message["role"], content)
    if open_calls:
        _add(result, "user", _answered([], open_calls))
    return tuple(result)


def sound_blocks(message: Mapping[str, Any]) -> list[ContentBlock]:
    """Return the content as blocks, without what is no block and what the service refuses."""
    content = message.get("content")
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    return [_sound(block) for block in content if _is_block(block)] if isinstance(content, list) else []


def _sound(block: Any) -> Any:
    """Return a block; a result without what the service refuses in one."""
    if block["type"] != "tool_result" or isinstance(block.get("content", ""), str):
        return block
    content = block["content"]
    if not isinstance(content, list):
        return {**block, "content": "" if content is None else str(content)}
    kept = [part for part in content if _is_block(part) and part["type"] not in NOT_IN_RESULTS]
    return block if len(kept) == len(content) else {**block, "content": kept}


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


def _merged(messages: Sequence[Message]) -> list[Message]:
    merged: list[Message] = []
    for message in messages:
        content = [block for block in sound_blocks(message) if block["type"] not in NOT_OF[message["role"]]]
        if content := _without_last_thoughts(content):
            _add(merged, message["role"], content)
    return merged


def _add(messages: list[Message], role: Literal["user", "assistant"], content: Sequence[ContentBlock]) -> None:
    """Append a message, or its content to the last one where the role is the same."""
    if messages and messages[-1]["role"] == role:
        messages[-1] = {"role": role, "content": [*sound_blocks(messages[-1]), *content]}
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
