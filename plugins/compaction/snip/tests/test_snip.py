from __future__ import annotations

import json
from typing import Any

from toolpost import Context, Message, tokens_in_text
from toolpost.testing import conversation
from toolpost_compaction_snip import Snip

LONG = "first " + "word " * 20_000 + "last"
THOUGHT = {"type": "thinking", "thinking": "Well.", "signature": "c2ln"}


def call(number: int, told: Any, result: Any = "ok", *before: Any) -> list[Message]:
    use: Any = {"type": "tool_use", "id": f"id{number}", "name": "Write", "input": told}
    answer: Any = {"type": "tool_result", "tool_use_id": f"id{number}", "content": result}
    return [{"role": "assistant", "content": [*before, use]}, {"role": "user", "content": [answer]}]


def talk(*calls: list[Message]) -> list[Message]:
    start: Message = {"role": "user", "content": LONG}
    return [start, *(message for two in calls for message in two), *conversation(4)]


async def snipped(messages: list[Message], strategy: Snip | None = None, **fields: Any) -> Any:
    usual: dict[str, Any] = {"messages": messages, "used": 150_000}
    context = Context(**(usual | fields))
    strategy = strategy or Snip()
    result = await strategy.compact(context) if strategy.applies(context) else None
    return None if result is None else list(result.messages)


def the_text(message: Any) -> str:
    (block,) = message["content"]
    text = block["input"]["content"] if block["type"] == "tool_use" else block["content"]
    assert isinstance(text, str)
    return text


async def test_a_long_result_keeps_its_beginning_and_its_end() -> None:
    kept = await snipped(talk(call(0, {}, LONG)), Snip(min_tokens=1))
    text = the_text(kept[2])
    assert text.startswith("first word")
    assert text.endswith("word last")
    assert "characters left out" in text
    assert 1_500 < tokens_in_text(text) <= 2_000


async def test_long_texts_in_inputs_are_cut_at_any_depth_and_short_ones_stay() -> None:
    told = {"file_path": "/a.txt", "content": LONG, "edits": [{"new_string": LONG, "count": 3}, "short"]}
    kept = await snipped(talk(call(0, told)), Snip(min_tokens=1))
    (block,) = kept[1]["content"]
    made = block["input"]
    assert made["file_path"] == "/a.txt"
    assert made["edits"][1] == "short"
    assert made["edits"][0]["count"] == 3
    assert max(len(made["content"]), len(made["edits"][0]["new_string"])) < 8_100
    assert told["content"] == LONG


async def test_texts_in_a_result_of_several_blocks_are_cut_and_pictures_stay() -> None:
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "A" * 90_000}}
    kept = await snipped(talk(call(0, {}, [picture, {"type": "text", "text": LONG}])), Snip(min_tokens=1))
    image, text = kept[2]["content"][0]["content"]
    assert image == picture
    assert len(text["text"]) < 8_100


async def test_what_a_person_wrote_and_answers_with_thoughts_are_not_touched() -> None:
    messages = talk(call(0, {"content": LONG}, LONG, THOUGHT))
    kept = await snipped(messages, Snip(min_tokens=1))
    changed = [index for index, (old, new) in enumerate(zip(messages, kept, strict=True)) if old is not new]
    assert changed == [2]


async def test_the_newest_messages_are_left_alone() -> None:
    messages = talk(call(0, {}, LONG))
    assert await snipped(messages, Snip(min_tokens=1, keep=len(messages))) is None
    assert await snipped(messages, Snip(min_tokens=1, keep=len(messages) - 3)) is not None


async def test_little_gain_is_not_worth_the_prompt_cache_but_before_a_summary_any_is() -> None:
    messages = talk(call(0, {}, "word " * 4_000))
    assert await snipped(messages) is None
    assert await snipped(messages, trigger="auto") is not None


async def test_a_window_with_room_is_left_alone() -> None:
    assert await snipped(talk(call(0, {}, LONG)), used=100_000) is None


async def test_what_was_cut_once_is_cut_no_further() -> None:
    first = await snipped(talk(call(0, {}, LONG)), Snip(min_tokens=1))
    assert await snipped(first, Snip(min_tokens=1)) is None
    assert json.dumps(first) == json.dumps(await snipped(talk(call(0, {}, LONG)), Snip(min_tokens=1)))
