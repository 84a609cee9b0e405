"""What listeners are told of a compaction that puts a summary in the place of what was said."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, cast

from toolpost import on
from toolpost_core.loop.messages import blocks_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from toolpost import Context, Message
    from toolpost_core.events.dispatch import Dispatcher


async def before(events: Dispatcher, context: Context, report: Callable[[str], None]) -> Context | None:
    """Ask PreCompact listeners; return the context with the instructions that they add, or None where one says no."""
    if not events.hears("pre_compact"):
        return context
    from toolpost.events.compaction import PreCompact

    value = PreCompact(trigger=_trigger(context), custom_instructions=context.instructions)
    emission = await events.emit(on.pre_compact, value)
    outcome = emission.outcome
    refused = emission.failure
    if refused is None and outcome is not None and (outcome.block or outcome.stop):
        refused = outcome.reason or outcome.stop_reason or "a PreCompact hook said no"
    if refused is not None:
        report(f"The conversation was not compacted: {refused}")
        return None
    added = outcome.additional_context if outcome is not None else ""
    return replace(context, instructions="\n".join(text for text in (context.instructions, added) if text))


async def after(events: Dispatcher, context: Context, messages: Sequence[Message]) -> None:
    """Tell PostCompact listeners of the summary: the text of the messages that were not there before."""
    if not events.hears("post_compact"):
        return
    from toolpost.events.compaction import PostCompact

    old = {id(message) for message in context.messages}
    new = [message for message in messages if id(message) not in old]
    texts = [cast("Any", block)["text"] for message in new for block in blocks_of(message) if block["type"] == "text"]
    await events.emit(on.post_compact, PostCompact(trigger=_trigger(context), compact_summary="\n".join(texts)))


def _trigger(context: Context) -> Literal["manual", "auto"]:
    return "manual" if context.trigger == "manual" else "auto"
