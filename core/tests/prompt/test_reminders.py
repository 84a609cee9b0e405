from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from toolpost import ContextSource, Exchanged, Message, Section, SessionScope
from toolpost.testing import make_scope
from toolpost_core.loop.messages import joined, text_message
from toolpost_core.prompt.reminders import exchanged, reminded
from toolpost_core.prompt.sections import Source

ASKED, ANSWER, RESULTS = text_message("go"), Message(role="assistant", content="yes"), text_message("results")


class Tells(ContextSource):
    text: str = ""

    async def sections(self, scope: SessionScope) -> Sequence[Section]:
        return ()

    async def reminders(self, scope: SessionScope, exchanged: Exchanged) -> Sequence[str]:
        return [self.text.format(len(exchanged.new))]


class Fails(Tells):
    async def reminders(self, scope: SessionScope, exchanged: Exchanged) -> Sequence[str]:
        raise OSError("no clock")


def test_new_is_what_came_after_what_was_sent() -> None:
    assert exchanged([ASKED], (ASKED, ANSWER, RESULTS)).new == (ANSWER, RESULTS)
    assert exchanged([ASKED], (ASKED,)).new == ()


def test_what_was_joined_with_the_last_message_is_new() -> None:
    messages = joined((ASKED, ANSWER, RESULTS), text_message("and now?"))

    assert exchanged((ASKED, ANSWER, RESULTS), messages).new == messages[2:]


def test_all_is_new_where_the_conversation_was_changed_or_is_shorter() -> None:
    other = text_message("a summary")

    assert exchanged((ASKED, ANSWER, RESULTS), (other, ANSWER, RESULTS)[:1]).new == (other,)
    assert exchanged((ASKED, ANSWER), (other, text_message("more"), ANSWER)).new[0] is other


async def test_sources_tell_in_their_order_and_one_that_fails_or_has_nothing_to_tell_costs_no_other(
    tmp_path: Path,
) -> None:
    told: list[str] = []
    sources = [
        Source("clock", Tells(text="{} came")),
        Source("broken", Fails()),
        Source("quiet", Tells(text=" ")),
        Source("silent", Tells(text="never"), reminds=False),
    ]
    made = await reminded(sources, make_scope(tmp_path), exchanged((), (ASKED, ANSWER)), told.append)

    assert made == ["2 came"]
    assert len(told) == 1
    assert "'broken'" in told[0]
    assert "no clock" in told[0]


@pytest.mark.parametrize("given", [None, "a text", [3]])
async def test_what_is_no_list_of_texts_tells_nothing_and_costs_no_other(tmp_path: Path, given: Any) -> None:
    class Odd(Tells):
        async def reminders(self, scope: SessionScope, exchanged: Exchanged) -> Sequence[str]:
            return given  # type: ignore[no-any-return]

    told: list[str] = []
    sources = [Source("odd", Odd()), Source("clock", Tells(text="{} came"))]
    assert await reminded(sources, make_scope(tmp_path), exchanged((), (ASKED, ANSWER)), told.append) == ["2 came"]
    assert "'odd'" in told[0]
