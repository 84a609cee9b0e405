"""What came up while calls ran: texts and prompts that the model reads with their results, and what is kept of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import toolpost
from toolpost import Aborted
from toolpost._frozen import frozen
from toolpost_core.loop.messages import joined
from toolpost_core.tools.watched import watched
from toolpost_core.transcripts.kinds import QUEUE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from toolpost import ContentBlock, Message, Queued, SessionEvent
    from toolpost_core.loop.state import State
    from toolpost_core.loop.turn import Tell
    from toolpost_core.session.around import Around
    from toolpost_core.session.inner import Inner


@frozen()
class Incoming:
    """Takes what waits at the boundary between two requests; listeners of prompts are asked as for any other."""

    session: Inner
    around: Around
    emit: Callable[[SessionEvent], None]

    async def __call__(self, state: State, tell: Tell) -> State:
        """Return the state with all that is to be read now at its end; after an abort, with what there was before it."""
        abort = self.session.abort_in_force
        while not abort.aborted and (queued := self.session.queue.take_next()) is not None:
            state = await self._prompt(state, queued) if queued.kind == "prompt" else tell(state, (queued.text,))
        return state

    async def _prompt(self, state: State, queued: Queued) -> State:
        self.emit(toolpost.PromptTaken(queued))
        try:
            blocked, more = await watched(self.around.submitted(queued.text), self.session.abort_in_force)
        except Aborted:
            text = f"The prompt was not sent, as the turn was interrupted: {queued.text}"
            self.emit(toolpost.Notice(text, "warning"))
            return state
        if blocked is not None:
            self.emit(toolpost.Notice(blocked, "warning"))
            return state
        session, message = self.session, prompt_message(queued.content, before=more)
        session.transcript.message("user", message, session.cwd, uuid=queued.id, promptAt=len(more))
        session.prompt_log.add(queued.id, queued.text)
        session.prompt_id = queued.id
        return replace(state, messages=joined(state.messages, message))


def keep_queued(session: Inner, operation: str, queued: Queued) -> None:
    """Keep in the transcript that something had to wait, or what became of it."""
    session.transcript.side(
        QUEUE,
        operation=operation,
        content=queued.text,
        queuedId=queued.id,
        kind=queued.kind,
        priority=queued.priority,
    )


def prompt_message(prompt: str | Sequence[Mapping[str, Any]] | None, before: Sequence[str]) -> Message:
    """Return texts and the prompt behind them, where there is one, as a message; the service takes no blank text."""
    blocks: list[ContentBlock] = [{"type": "text", "text": text} for text in before]
    if isinstance(prompt, str):
        blocks.append({"type": "text", "text": prompt})
    elif prompt is not None:
        blocks += [dict(block) for block in prompt if block.get("type") != "text" or str(block.get("text", "")).strip()]
    return {"role": "user", "content": blocks}
