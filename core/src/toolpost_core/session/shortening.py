"""Compaction that a person asks for."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import toolpost
from toolpost_core.loop.messages import joined, text_message
from toolpost_core.session.asking import Asking

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolpost import AbortSignal, Part
    from toolpost_core.loop.state import State
    from toolpost_core.session.inner import Inner


async def shorten(
    session: Inner, abort: AbortSignal, instructions: str, part: tuple[Literal["up_to", "from"], str] | None
) -> None:
    """Compact the conversation, or the part of it before a prompt, or from it on.

    Raises SessionError where nothing was done, and for a prompt that the conversation does not hold.
    """
    if not session.conversation.messages:
        raise toolpost.SessionError("There is no conversation yet that could be compacted.")
    await session.prompt.task()
    preparer = session.engine().preparer
    if not preparer.policy.compact:
        raise toolpost.SessionError("Nothing was compacted: the environment variable DISABLE_COMPACT forbids it.")
    shorter = await preparer.shorten(
        session.conversation.state(),
        Asking(session, abort),
        lambda state, texts: _told(session, state, texts),
        "manual" if part is None else "partial",
        instructions=instructions,
        part=None if part is None else _chosen(session, *part),
    )
    if shorter is None:
        raise toolpost.SessionError(
            "Nothing was compacted: the conversation is short enough, or what would do it failed or is off. "
            "`toolpost plugins list` shows the compaction strategies."
        )
    session.conversation.take_over(shorter)


def _told(session: Inner, state: State, texts: Sequence[str]) -> State:
    """Return the state with texts for the model at its end, which are kept in the transcript."""
    for text in texts:
        message = text_message(text)
        session.transcript.message("user", message, session.cwd, isMeta=True)
        state = replace(state, messages=joined(state.messages, message))
    return state


def _chosen(session: Inner, direction: Literal["up_to", "from"], message_id: str) -> Part:
    from toolpost_core.transcripts.past import before

    path = session.transcript.path
    if path is None or not path.exists():
        raise toolpost.SessionError("A part of the conversation can't be chosen: this session keeps no transcript.")
    meant = [prompt.id for prompt in session.prompt_log.all() if prompt.id.startswith(message_id)]
    place = len(before(path, meant[0] if len(meant) == 1 else message_id).messages)
    if place >= len(session.conversation.messages):
        raise toolpost.SessionError(
            f"The conversation does not hold the prompt {message_id!r} any more: it was compacted."
        )
    return toolpost.Part(direction, place)
