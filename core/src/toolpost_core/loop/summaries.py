"""What listeners are told of a compaction that puts a summary in the place of what was said."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from toolpost import on

if TYPE_CHECKING:
    from collections.abc import Callable

    from toolpost import CompactionResult, Context
    from toolpost_core.events.dispatch import Dispatcher


async def before(events: Dispatcher, context: Context, report: Callable[[str], None]) -> Context | None:
    """Ask PreCompact listeners; return the context with the instructions that they add, or None where one says no."""
    if not events.hears("pre_compact"):
        return context
    from toolpost.events.compaction import PreCompact

    value = PreCompact(trigger=asked_by(context), custom_instructions=context.instructions)
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


async def after(events: Dispatcher, context: Context, result: CompactionResult) -> None:
    """Tell PostCompact listeners of the summary."""
    if not events.hears("post_compact"):
        return
    from toolpost.events.compaction import PostCompact

    await events.emit(on.post_compact, PostCompact(trigger=asked_by(context), compact_summary=result.boundary))


def asked_by(context: Context) -> Literal["manual", "auto"]:
    """Say whether a person asked for a compaction."""
    return "manual" if context.trigger in ("manual", "partial") else "auto"
