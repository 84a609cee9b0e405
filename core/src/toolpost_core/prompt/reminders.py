"""What context plugins tell the model while a conversation goes on."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from toolpost import Exchanged
from toolpost_core.prompt.sections import SOURCE_LIMIT

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from toolpost import Message, SessionScope
    from toolpost_core.prompt.sections import Source


def exchanged(sent: Sequence[Message], messages: Sequence[Message]) -> Exchanged:
    """Return the conversation with what is new in it; all of it is where it no longer begins with what was `sent`."""
    begin = len(sent)
    if begin and (len(messages) < begin or messages[begin - 1] is not sent[-1]):
        begin -= 1  # what came since was joined with the last message
    if begin and (len(messages) < begin or messages[begin - 1] is not sent[begin - 1]):
        begin = 0
    return Exchanged(messages=messages, new=messages[begin:])


async def reminded(
    sources: Sequence[Source], scope: SessionScope, exchanged: Exchanged, report: Callable[[str], None]
) -> list[str]:
    """Ask the sources one after another; one that fails, or takes over 10 s, is reported and says nothing."""

    async def ask(named: Source) -> Sequence[str]:
        try:
            async with asyncio.timeout(SOURCE_LIMIT):
                return _only_texts(await named.source.reminders(scope, exchanged))
        except Exception as error:
            report(f"The context plugin {named.plugin!r} had nothing to tell the model by now: {error!r}")
            return ()

    answers = [await ask(named) for named in sources if named.reminds]
    return [text.strip() for texts in answers for text in texts if text.strip()]


def _only_texts(given: Sequence[object]) -> Sequence[str]:
    """Return what a source gave. Raises TypeError where that is anything but texts."""
    texts = [one for one in given if isinstance(one, str)]
    if isinstance(given, str) or len(texts) != len(given):
        raise TypeError(f"{given!r:.80} is no list of texts")
    return texts
