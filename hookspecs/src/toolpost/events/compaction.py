"""Events round compaction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from toolpost._hooks import event
from toolpost.events._base import BlockOutcome, EventBase, Outcome, merged


@dataclass(frozen=True, kw_only=True)
class PreCompact(EventBase):
    """The conversation is about to be shortened by a summary."""

    trigger: Literal["manual", "auto"] = "auto"
    custom_instructions: str = ""


@event("decide", merged)
def pre_compact(event: PreCompact) -> BlockOutcome | None:
    """Before a compaction.

    When: before a strategy that summarizes begins, and before any request of its own. How often: once. Answer: `block`
    leaves the conversation as it is; `additional_context` is added to the instructions for the summary. Merge: any block
    blocks. Failure: blocks.
    """


@dataclass(frozen=True, kw_only=True)
class PostCompact(EventBase):
    """The conversation was shortened."""

    trigger: Literal["manual", "auto"] = "auto"
    compact_summary: str = ""


@event("observe", merged)
def post_compact(event: PostCompact) -> Outcome | None:
    """After a compaction.

    When: before the next request. How often: once. Answer: none. Failure: reported.
    """
