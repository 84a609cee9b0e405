"""From an answer's events to what becomes of each block: a record, an event for front ends, a call that may start."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import toolpost
from toolpost import Stop, ToolUse
from toolpost._frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from toolpost import ContentBlock, Message, SessionEvent, StreamEvent, ToolResultBlock
    from toolpost_core.loop.display import Display
    from toolpost_core.loop.stream import Answer
    from toolpost_core.tools.calls import CallResult
    from toolpost_core.tools.executor import StreamingExecutor

CUT_INPUT_CHARS: Final = 300


@frozen(kw_only=True)
class Keep:
    """Where messages go as soon as they are complete; the first three return the record's uuid.

    `replaced` and `block_replaced` keep what is sent in the place of a result or block, `dropped` that records count as
    never said, `without_thoughts` that no thought of before is sent any more.
    """

    block: Callable[[ContentBlock, Answer], str]
    result: Callable[[CallResult], str]
    message: Callable[[Message], str]
    replaced: Callable[[ToolResultBlock], None]
    block_replaced: Callable[[ContentBlock, ContentBlock], None]
    dropped: Callable[[Sequence[str]], None]
    without_thoughts: Callable[[], None]


@dataclass(kw_only=True)
class Delivery:
    """Hands on each block and call that an answer's events complete.

    A call whose input can't be read waits for what follows it: where that is the end at the output limit, the call was
    cut, and is no mistake of the model's. `can_raise` says that the answer is asked for again in that case. `records` gets
    the uuids of what is kept, `superseded` has those of discarded answers that this one takes the place of.
    """

    answer: Answer
    executor: StreamingExecutor
    keep: Keep
    emit: Callable[[SessionEvent], None]
    records: list[str]
    can_raise: bool = False
    superseded: Sequence[str] = ()
    display: Display | None = None
    _held: list[ContentBlock | ToolUse] = field(default_factory=list)

    def take(self, event: StreamEvent) -> None:
        """Take one event."""
        complete = list(self.answer.feed(event))
        if isinstance(event, ToolUse) and event.raw is not None:
            self._hand_on(self._held)
            self._held = complete
            return
        if isinstance(event, Stop) and event.reason == "max_tokens":
            self._cut()
        if complete or isinstance(event, Stop):
            self._hand_on(self._held)
            self._held = []
        self._hand_on(complete)

    def close(self) -> None:
        """Hand on what an answer that broke off had begun."""
        self._hand_on(self._held)
        self._hand_on(list(self.answer.close()))

    def _cut(self) -> None:
        """Drop a call that the output limit cut where the answer is asked for again; otherwise say what happened."""
        if self.can_raise and not len(self.executor):
            self.answer.blocks = [block for block in self.answer.blocks if block not in self._held]
            self._held = []
        self._held = [_as_cut(held) if isinstance(held, ToolUse) else held for held in self._held]

    def _hand_on(self, complete: Sequence[ContentBlock | ToolUse]) -> None:
        for part in complete:
            if isinstance(part, ToolUse):
                self.executor.add(part)
            else:
                self._block(part)

    def _block(self, block: ContentBlock) -> None:
        answer = self.answer
        uuid = self.keep.block(block, answer)
        self.records.append(uuid)
        shown = block if self.display is None else self.display.block(block)
        self.emit(
            toolpost.AssistantMessage(
                message={"role": "assistant", "content": [shown]},
                message_id=answer.id,
                model=answer.model,
                uuid=uuid,
                usage=answer.usage,
                supersedes=tuple(self.superseded),
            )
        )
        self.superseded = ()


def _as_cut(call: ToolUse) -> ToolUse:
    begin = (call.raw or "")[:CUT_INPUT_CHARS]
    return call._replace(raw=f"{begin}… (cut here, at the output limit of the answer: write less in one call)")
