"""What waits for the model to read it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

from toolpost._frozen import frozen

Priority: TypeAlias = Literal["now", "next", "later"]
"""When something is read: `now` ends the turn that runs, `next` goes with the results of its next calls, `later` waits for
its end. Of one priority, what came first is read first."""

QueueKind: TypeAlias = Literal["prompt", "task", "hook", "scheduled", "context"]
"""Where it comes from: a person or program, the end of background work, a hook, a clock. `context` is worth no turn: it
waits for the next one."""


@frozen(kw_only=True)
class Queued:
    """Something that waits. A prompt's `id` becomes the uuid of its record."""

    id: str
    content: str | Sequence[Mapping[str, Any]]
    kind: QueueKind = "prompt"
    priority: Priority = "next"

    @property
    def text(self) -> str:
        """What it says, of content blocks their texts."""
        if isinstance(self.content, str):
            return self.content
        return "\n".join(str(block.get("text", "")) for block in self.content if block.get("type") == "text")
