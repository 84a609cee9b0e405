"""A prompt that the service refuses is not sent again with the next one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from toolpost import ProviderError, SessionError
from toolpost._frozen import frozen
from toolpost_core.loop.messages import call_ids
from toolpost_core.loop.state import StopReason

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolpost import Message
    from toolpost_core.loop.state import Ended
    from toolpost_core.session.inner import Inner


_REFUSING: Final = (StopReason.MODEL_ERROR, StopReason.IMAGE_ERROR)
_REFUSED: Final = ("invalid_request", "invalid_block", "invalid_image")
_STAYS: Final = "What was sent stays in the conversation, and may be refused again: go back to before it."
_GONE: Final = "The prompt was taken out of the conversation: change it, and send it again."


@frozen(kw_only=True)
class Sent:
    """What a prompt was added to: the messages, and the transcript's last record. `texts` waited and went along."""

    messages: tuple[Message, ...]
    leaf: str | None
    prompt: str
    texts: Sequence[str]


def without_refused_prompt(session: Inner, sent: Sent | None, ended: Ended) -> Ended:
    """Go back to before a prompt that the service or the model refuses, or that does not fit.

    The transcript keeps it, as one that was gone back from. Where calls ran since, all stays: they had effects that the
    model must know of. Returns the end, which says so.
    """
    refused = ended.reason in _REFUSING and ended.error is not None and ended.error.kind in _REFUSED
    if not refused and ended.reason not in (StopReason.PROMPT_TOO_LONG, StopReason.BLOCKING_LIMIT):
        return ended
    if sent is None or not _is_unanswered(sent.messages, ended):
        return replace(_saying(ended, _STAYS), remedies=("rewind", "clear")) if refused else ended
    _go_back(session, sent)
    return _saying(replace(ended, state=replace(session.conversation.state(), turn=ended.state.turn)), _GONE)


def _go_back(session: Inner, sent: Sent) -> None:
    """Take the conversation as a resume would read it; where nothing of it is kept, as it was."""
    from toolpost_core.session.rewind import Rewinder

    used = session.conversation.used
    try:
        Rewinder(session).conversation(sent.prompt)
    except SessionError:
        conversation = session.conversation
        opening = conversation.opening_from([sent.prompt])
        session.transcript.parent = sent.leaf
        session.go_on_from(replace(conversation, messages=sent.messages, opening=opening))
        session.prompt_log.rewind(sent.prompt)
    conversation = session.conversation
    conversation.used, conversation.opening = used, (*conversation.opening, *sent.texts)


def _saying(ended: Ended, more: str) -> Ended:
    error = ended.error
    if error is None:
        return replace(ended, told=f"{ended.told} {more}")
    said = ProviderError(f"{error} {more}", kind=error.kind, status=error.status, details=error.details)
    return replace(ended, error=said)


def _is_unanswered(before: tuple[Message, ...], ended: Ended) -> bool:
    """Whether nothing came of the prompt; a compaction that did not help is undone with it."""
    after = ended.state.messages
    if _only_asked(before, after):
        return True
    return ended.state.turn == 1 and not ended.usage.output_tokens and call_ids(after) <= call_ids(before)


def _only_asked(before: tuple[Message, ...], after: tuple[Message, ...]) -> bool:
    """Whether nothing but words of the user was added to messages that are otherwise as they were."""
    kept = before[:-1] if before and before[-1]["role"] == "user" else before
    return after[: len(kept)] == kept and all(message["role"] == "user" for message in after[len(kept) :])
