"""What a compaction strategy returned: whether the conversation can go on from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import toolpost
from toolpost import CompactionResult, tokens_of
from toolpost_core.loop.messages import blocks_of, call_ids

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolpost import Context, Message


def checked(returned: object, context: Context) -> CompactionResult | None:
    """Return what a strategy returned, with its counts as they are. Raises ToolpostError where it can't be taken over.

    It is refused where the service would refuse it, and where it is no shorter than what it came from.
    """
    if returned is None:
        return None
    if not isinstance(returned, CompactionResult):
        raise toolpost.ToolpostError(
            f"compact() returned a {type(returned).__name__}, and neither a CompactionResult nor None"
        )
    if wrong := _refused(returned.messages, context.messages) or _too_long(returned.messages, context):
        raise toolpost.ToolpostError(f"what it made {wrong}")
    return context.result(returned.messages, returned.boundary)


def _refused(messages: Sequence[Message], before: Sequence[Message]) -> str:
    """Say why the service would refuse messages; empty where it takes them."""
    roles: list[str] = [message["role"] for message in messages]
    if odd := set(roles) - {"user", "assistant"}:
        return f"has a message of the role {odd.pop()!r}"
    if roles[:1] != ["user"]:
        return "does not begin with a message of the user"
    if before[-1]["role"] == "user" != roles[-1]:
        return "lacks the user's message at the end, which is to be answered"
    if _unpaired(messages) - _unpaired(before):
        return "parts a call from its result"
    return ""


def _unpaired(messages: Sequence[Message]) -> set[str]:
    """Return the ids of calls without result, and of results without call."""
    blocks = (cast("Any", block) for message in messages for block in blocks_of(message))
    return call_ids(messages) ^ {str(block["tool_use_id"]) for block in blocks if block["type"] == "tool_result"}


def _too_long(messages: Sequence[Message], context: Context) -> str:
    """Say that messages are no shorter; what stayed counts as the service counted it, what is new as it is estimated."""
    stayed = {id(message) for message in context.messages}
    new = min(context.scale, 1.0)
    left = sum(tokens_of((message,)) * (context.scale if id(message) in stayed else new) for message in messages)
    return "is no shorter than the conversation" if left >= tokens_of(context.messages) * context.scale else ""
