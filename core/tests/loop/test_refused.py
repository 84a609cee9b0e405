"""A block that the service refused gets words in its place, and nothing else changes."""

from __future__ import annotations

from typing import Any

import pytest

from toolpost import Message, ProviderError
from toolpost_core.loop.refused import without_refused

IMAGE: Any = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "eA=="}}
TEXT: Any = {"type": "text", "text": "hi"}
THOUGHT: Any = {"type": "thinking", "thinking": "hm", "signature": "s"}
CALL: Any = {"type": "tool_use", "id": "t1", "name": "Read", "input": {}}


def result(content: Any) -> Any:
    return {"type": "tool_result", "tool_use_id": "t1", "content": content}


def user(*blocks: Any) -> Message:
    return {"role": "user", "content": list(blocks)}


def assistant(*blocks: Any) -> Message:
    return {"role": "assistant", "content": list(blocks)}


def refusal(message: int | None = None, block: int | None = None, text: str = "no such thing") -> ProviderError:
    return ProviderError(text, kind="invalid_image", message_index=message, content_index=block)


def blocks(message: Message) -> list[Any]:
    content = message["content"]
    assert isinstance(content, list)
    return content


def kinds(message: Message) -> list[str]:
    return [block["type"] for block in blocks(message)]


def test_the_named_block_becomes_words_that_say_why_and_the_others_stay_the_same_objects() -> None:
    messages = (user(TEXT, IMAGE), assistant(TEXT), user(IMAGE))
    mended = without_refused(messages, refusal(0, 1, "image exceeds 5 MB"))

    assert mended is not None
    assert kinds(mended.messages[0]) == ["text", "text"]
    assert "An image stood here" in str(mended.messages[0])
    assert "image exceeds 5 MB" in str(mended.messages[0])
    assert blocks(mended.messages[0])[0] is TEXT
    assert all(new is old for new, old in zip(mended.messages[1:], messages[1:], strict=True))
    assert kinds(messages[0]) == ["text", "image"], "what was sent never changes"
    ((old, new),) = mended.blocks
    assert (old is IMAGE, new) == (True, blocks(mended.messages[0])[1])


def test_of_a_result_only_its_pictures_go_and_it_stays_the_result_of_its_call() -> None:
    mended = without_refused((user(TEXT), assistant(CALL), user(result([TEXT, IMAGE]))), refusal(2, 0))

    assert mended is not None
    (block,) = blocks(mended.messages[2])
    assert (block["type"], block["tool_use_id"]) == ("tool_result", "t1")
    assert [part["type"] for part in block["content"]] == ["text", "text"]
    assert block["content"][0] is TEXT


def test_a_result_of_text_alone_is_replaced_whole() -> None:
    mended = without_refused((user(TEXT), assistant(CALL), user(result("\ud800"))), refusal(2, 0))

    assert mended is not None
    assert "Something stood here" in str(mended.messages[2])


def test_without_a_place_the_newest_message_with_pictures_loses_them() -> None:
    messages = (user(IMAGE), assistant(TEXT), user(IMAGE, TEXT, IMAGE), assistant(TEXT), user(TEXT))
    mended = without_refused(messages, refusal())

    assert mended is not None
    assert kinds(mended.messages[2]) == ["text"] * 3
    assert mended.messages[0] is messages[0]


def test_a_refused_thought_takes_all_thoughts_with_it() -> None:
    messages = (user(TEXT), assistant(THOUGHT, CALL), user(result("x")), assistant(THOUGHT, TEXT), user(TEXT))
    mended = without_refused(messages, refusal(1, 0))

    assert mended is not None
    assert [kinds(message) for message in mended.messages[1:4:2]] == [["tool_use"], ["text"]]
    assert mended.messages[2] is messages[2]


@pytest.mark.parametrize(
    ("messages", "error"),
    [
        ((user(TEXT), assistant(CALL)), refusal(1, 0)),  # its result would be left alone
        ((user(TEXT),), refusal(4, 0)),
        ((user(TEXT),), refusal(0, 7)),
        ((user(TEXT),), refusal(0)),
        ((user(TEXT),), refusal()),
    ],
    ids=["a call", "no such message", "no such block", "no media there", "no media at all"],
)
def test_what_can_not_be_told_or_replaced_is_left(messages: tuple[Message, ...], error: ProviderError) -> None:
    assert without_refused(messages, error) is None
