from __future__ import annotations

from typing import Any

from toolpost import Context, Message
from toolpost.services import SessionNotes
from toolpost.testing import ServiceMap, conversation
from toolpost_compaction_session_memory import SessionMemory


class Notes:
    def __init__(self, text: str) -> None:
        self._text = text

    def read(self) -> str:
        return self._text


def context(messages: list[Message], notes: str | None = None, **fields: Any) -> Context:
    services = ServiceMap({} if notes is None else {SessionNotes: Notes(notes)})
    usual: dict[str, Any] = {"messages": messages, "used": 195_000, "trigger": "auto", "services": services}
    return Context(**(usual | fields))


async def test_the_notes_and_the_person_s_words_stand_before_the_newest_messages() -> None:
    messages = conversation(60)
    result = await SessionMemory().compact(context(messages, "They read sixty files."))
    assert result is not None
    assert "They read sixty files." in result.boundary
    assert "Prompt 0\n" in result.boundary
    assert list(result.messages[-4:]) == messages[-4:]


async def test_no_model_is_asked() -> None:
    async def ask(request: Any) -> str:
        raise AssertionError(request)

    assert await SessionMemory().compact(context(conversation(60), "Notes.", ask=ask)) is not None


async def test_both_lower_limits_are_met() -> None:
    messages = conversation(60)  # about 1,050 tokens a turn, of which two messages have text
    tokens = await SessionMemory(min_texts=1).compact(context(messages))
    texts = await SessionMemory(min_tokens=1, min_texts=15).compact(context(messages))
    assert tokens is not None
    assert texts is not None
    assert 10_000 <= context(messages).tokens(tokens.messages[1:]) < 11_500
    assert sum(1 for message in texts.messages if "Answer" in str(message)) == 8


async def test_no_more_stays_than_the_upper_limit_or_the_budget() -> None:
    given = context(conversation(60), budget=50_000)
    few = await SessionMemory(min_tokens=30_000, max_tokens=20_000).compact(given)
    assert few is not None
    assert given.tokens(few.messages[1:]) <= 20_000
    small = context(conversation(60), budget=5_000)
    fewer = await SessionMemory().compact(small)
    assert fewer is not None
    assert small.tokens(fewer.messages[1:]) <= 5_000


async def test_a_short_conversation_stays() -> None:
    assert await SessionMemory().compact(context(conversation(5), "Notes.")) is None


def test_with_notes_it_goes_before_a_summary_and_without_them_after_it() -> None:
    messages = conversation(9)
    summary = 1.0
    assert SessionMemory().applies(context(messages, "Notes.")) > summary
    assert 0 < SessionMemory().applies(context(messages, "")) < summary
    assert 0 < SessionMemory().applies(context(messages)) < summary
    assert 0 < SessionMemory().applies(context(messages, services=None)) < summary


def test_a_person_s_instructions_are_for_a_model_to_read() -> None:
    assert SessionMemory().applies(context(conversation(9), "Notes.", instructions="keep the names")) < 1.0
