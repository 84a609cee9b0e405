from __future__ import annotations

import json
import time
from typing import Any

import pytest

from toolpost import Context, Message
from toolpost_compaction_micro import Micro

CLEARED = "[Old tool result content cleared]"
LONG = "x" * 40_000  # 10,000 tokens
PICTURE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "A" * 400_000}}


def pair(number: int, content: Any = LONG, tool: str = "Read", **marks: Any) -> list[Message]:
    use: Any = {"type": "tool_use", "id": f"id{number}", "name": tool, "input": {}}
    result: Any = {"type": "tool_result", "tool_use_id": f"id{number}", "content": content, **marks}
    return [{"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]


def talk(*pairs: list[Message]) -> list[Message]:
    start: Message = {"role": "user", "content": "go"}
    return [start, *(message for two in pairs for message in two)]


async def compacted(context: Context, strategy: Micro = Micro()) -> list[Message] | None:  # noqa: B008 - a frozen value
    """Do what core does: ask whether it applies, then let it work."""
    result = await strategy.compact(context) if strategy.applies(context) else None
    return None if result is None else list(result.messages)


def results(messages: Any) -> list[Any]:
    blocks = [b for m in messages if isinstance(m["content"], list) for b in m["content"]]
    return [b["content"] for b in blocks if b["type"] == "tool_result"]


def full(messages: list[Message], **changes: Any) -> Context:
    fields: dict[str, Any] = {"messages": messages, "used": 150_000} | changes
    return Context(**fields)


async def test_all_but_the_newest_five_results_are_cleared() -> None:
    kept = await compacted(full(talk(*(pair(n) for n in range(8)))))
    assert results(kept) == [CLEARED] * 3 + [LONG] * 5


async def test_messages_without_an_old_result_stay_the_same_objects() -> None:
    messages = talk(*(pair(n) for n in range(8)))
    kept = await compacted(full(messages))
    assert kept is not None
    changed = [index for index, (old, new) in enumerate(zip(messages, kept, strict=True)) if old is not new]
    assert changed == [2, 4, 6]
    assert results(messages) == [LONG] * 8


async def test_results_of_other_tools_are_neither_cleared_nor_counted() -> None:
    messages = talk(*(pair(n, tool="Agent") for n in range(4)), *(pair(n, tool="Bash") for n in range(4, 12)))
    kept = await compacted(full(messages))
    assert results(kept) == [LONG] * 4 + [CLEARED] * 3 + [LONG] * 5


@pytest.mark.parametrize("tool", ["Read", "Bash", "Grep", "Glob", "WebSearch", "WebFetch", "Edit", "Write"])
async def test_results_of_each_of_the_eight_tools_are_cleared(tool: str) -> None:
    kept = await compacted(full(talk(*(pair(n, tool=tool) for n in range(8)))))
    assert results(kept)[:3] == [CLEARED] * 3


async def test_half_empty_windows_are_left_alone() -> None:
    messages = talk(*(pair(n) for n in range(8)))
    assert await compacted(full(messages, used=99_000)) is None


async def test_too_little_gain_is_not_worth_the_prompt_cache() -> None:
    messages = talk(*(pair(n) for n in range(6)))
    assert await compacted(full(messages)) is None
    assert await compacted(full(messages), Micro(min_tokens=5_000)) is not None


async def test_after_an_idle_hour_the_cache_is_cold_and_any_gain_counts() -> None:
    messages = talk(*(pair(n) for n in range(6)))
    assert await compacted(full(messages, used=20_000, idle=3_500.0)) is None
    kept = await compacted(full(messages, used=20_000, idle=3_700.0))
    assert results(kept) == [CLEARED] + [LONG] * 5


@pytest.mark.parametrize("trigger", ["auto", "manual", "prompt_too_long"])
async def test_before_a_summary_any_gain_counts(trigger: str) -> None:
    messages = talk(*(pair(n) for n in range(6)))
    kept = await compacted(full(messages, used=20_000, trigger=trigger))
    assert results(kept) == [CLEARED] + [LONG] * 5


async def test_what_was_cleared_once_stays_cleared_with_the_same_bytes() -> None:
    first = await compacted(full(talk(*(pair(n) for n in range(8)))))
    assert first is not None
    more = [*first, *(message for n in range(8, 12) for message in pair(n))]
    again = await compacted(full(more, used=150_000))
    assert again is not None
    assert json.dumps(again[:7]) == json.dumps(first[:7])
    assert results(again) == [CLEARED] * 7 + [LONG] * 5


async def test_a_conversation_that_is_cleared_already_is_left_alone() -> None:
    first = await compacted(full(talk(*(pair(n) for n in range(8)))))
    assert first is not None
    assert await compacted(full(first)) is None


async def test_short_results_are_not_replaced_by_a_longer_text() -> None:
    messages = talk(pair(0, "ok"), *(pair(n) for n in range(1, 9)))
    kept = await compacted(full(messages))
    assert results(kept)[:4] == ["ok", CLEARED, CLEARED, CLEARED]


async def test_a_picture_counts_2000_tokens_whatever_its_bytes() -> None:
    picture = [PICTURE]
    messages = talk(*(pair(n, picture) for n in range(14)))
    assert await Micro().compact(full(messages)) is None  # 9 × 1,992
    kept = await compacted(full(talk(*(pair(n, picture) for n in range(16)))))
    assert results(kept)[:11] == [CLEARED] * 11


async def test_an_error_stays_marked_as_one_and_what_it_said() -> None:
    failed = f"{LONG}\nbash: sea: command not found\nExit code 127"
    kept = await compacted(full(talk(pair(0, failed, "Bash", is_error=True), *(pair(n) for n in range(1, 8)))))
    assert kept is not None
    left = f"{CLEARED}\nbash: sea: command not found"
    assert kept[2]["content"] == [{"type": "tool_result", "tool_use_id": "id0", "content": left, "is_error": True}]
    assert await compacted(full(kept)) is None


async def test_what_stayed_of_a_failure_is_not_cleared_again() -> None:
    first = await compacted(full(talk(pair(0, is_error=True), *(pair(n) for n in range(1, 8)))))
    assert first is not None
    assert await compacted(full(first, trigger="auto")) is None


async def test_several_results_in_one_message_are_told_apart() -> None:
    uses: Any = [{"type": "tool_use", "id": f"id{n}", "name": "Read", "input": {}} for n in range(8)]
    answers: Any = [{"type": "tool_result", "tool_use_id": f"id{n}", "content": LONG} for n in range(8)]
    asked: list[Message] = [{"role": "user", "content": "go"}, {"role": "assistant", "content": uses}]
    kept = await compacted(full([*asked, {"role": "user", "content": answers}]))
    assert results(kept) == [CLEARED] * 3 + [LONG] * 5


async def test_pictures_and_documents_that_a_person_sent_are_named_in_their_place() -> None:
    asked: Any = {
        "role": "user",
        "content": [PICTURE, {"type": "document", "source": {}}, {"type": "text", "text": "this?"}],
    }
    answered: Message = {"role": "assistant", "content": [{"type": "text", "text": "a cat"}]}
    kept = await compacted(full([asked, answered, *talk(*(pair(n) for n in range(5)))], trigger="auto"))
    assert kept is not None
    assert [block.get("text") for block in kept[0]["content"]] == ["[image]", "[document]", "this?"]  # type: ignore[union-attr]
    assert results(kept) == [LONG] * 5


async def test_a_history_of_150000_tokens_takes_20_ms_at_most() -> None:
    messages = talk(*(pair(n, "word " * 8_000) for n in range(15)), *(pair(n, "short") for n in range(15, 400)))
    times = []
    for _ in range(5):
        began = time.process_time()
        assert await compacted(full(messages)) is not None
        times.append(time.process_time() - began)
    assert min(times) <= 0.02
