"""What of a run goes into the transcript, as soon as it is complete."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from toolpost_core.loop.delivery import Keep
from toolpost_core.session.usage import json_usage

if TYPE_CHECKING:
    from toolpost import ContentBlock, Message
    from toolpost_core.loop.stream import Answer
    from toolpost_core.session.inner import Inner
    from toolpost_core.tools.calls import CallResult


def keep_of(session: Inner) -> Keep:
    """Return what keeps a session's messages."""
    transcript = session.transcript

    def block(block: ContentBlock, answer: Answer) -> str:
        message = {
            "id": answer.id,
            "type": "message",
            "role": "assistant",
            "model": answer.model,
            "content": [block],
            "usage": json_usage(answer.usage),
        }
        return transcript.message("assistant", message, session.cwd)

    def result(result: CallResult) -> str:
        message = {"role": "user", "content": [result.block]}
        extra = {} if result.data is None or isinstance(result.data, str) else {"toolUseResult": _compact(result.data)}
        return transcript.message("user", message, session.cwd, **extra)

    def message(message: Message) -> str:
        return transcript.message("user", message, session.cwd, isMeta=True)

    return Keep(
        block=block,
        result=result,
        message=message,
        replaced=lambda block: transcript.replace(block["tool_use_id"], block["content"]),
        block_replaced=transcript.replace_block,
        dropped=transcript.discard,
        without_thoughts=lambda: session.thinker.left_out(session.model.id, transcript),
    )


def _compact(data: Any) -> Any:
    """Leave long texts out of the record: the model's text of the result is in its message."""
    if isinstance(data, str):
        return data if len(data) <= 2_000 else data[:2_000] + "…"
    if isinstance(data, Mapping):
        return {key: _compact(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_compact(value) for value in data[:200]]
    return data
