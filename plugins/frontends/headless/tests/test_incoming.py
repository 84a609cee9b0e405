from __future__ import annotations

import pytest

from toolpost import Priority
from toolpost_frontend_headless.incoming import Bad, Control, Prompt, parse


def test_a_user_line_is_a_prompt() -> None:
    line = b'{"type":"user","message":{"role":"user","content":"hi"},"parent_tool_use_id":null,"session_id":"x"}\r'
    assert parse(line) == Prompt("hi")


def test_content_blocks_are_passed_on_as_they_are() -> None:
    line = b'{"type":"user","message":{"role":"user","content":[{"type":"text","text":"hi"}]}}'
    assert parse(line) == Prompt([{"type": "text", "text": "hi"}])


def test_a_text_without_words_beside_others_is_left_out() -> None:
    line = (
        b'{"type":"user","message":{"role":"user","content":[{"type":"text","text":""},{"type":"text","text":"hi"}]}}'
    )
    assert parse(line) == Prompt([{"type": "text", "text": "hi"}])


@pytest.mark.parametrize("priority", ["now", "next", "later"])
def test_a_prompt_says_when_it_is_to_be_read(priority: Priority) -> None:
    line = b'{"type":"user","message":{"role":"user","content":"hi"},"priority":"%s"}' % priority.encode()
    assert parse(line) == Prompt("hi", None, priority)


@pytest.mark.parametrize("line", [b"", b"\r", b"  \t ", b'{"type":"keep_alive"}', b'{"type":"control_response"}'])
def test_blank_lines_and_lines_without_work_are_nothing(line: bytes) -> None:
    assert parse(line) is None


def test_a_control_request_keeps_its_id() -> None:
    line = b'{"type":"control_request","request_id":"r1","request":{"subtype":"interrupt"}}'
    assert parse(line) == Control("r1", "interrupt", {"subtype": "interrupt"})


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b"nonsense", "not JSON"),
        (b'"text"', "a JSON string, not an object"),
        (b"[1]", "a JSON array"),
        (b"\xff\xfe", "not UTF-8"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"type":"system"}', "'system'"),
        (b'{"type":"user"}', '"message" must be an object'),
        (b'{"type":"user","message":{"role":"assistant","content":"x"}}', "'assistant'"),
        (b'{"type":"user","message":{"role":"user","content":""}}', "not empty"),
        (b'{"type":"user","message":{"role":"user","content":[1]}}', "content block"),
        (b'{"type":"user","message":{"role":"user","content":[{"type":"text","text":" "}]}}', "not empty"),
        (b'{"type":"user","message":{"role":"user","content":[{"type":"text"}]}}', "not empty"),
        (b'{"type":"user","message":{"role":"user","content":[{"type":"text","text":1}]}}', "a string"),
        (b'{"type":"user","message":{"role":"user","content":[{"type":"image"}]}}', '"source", an object'),
        (b'{"type":"user","message":{"role":"user","content":[{"type":"tool_result"}]}}', "'tool_result'"),
        (b'{"type":"user","message":{"role":"user","content":"x"},"priority":"soon"}', "'soon'; now, next, later"),
        (b'{"type":"control_request","request":{"subtype":"interrupt"}}', "request_id"),
    ],
)
def test_a_line_that_cannot_be_used_says_why(line: bytes, said: str) -> None:
    item = parse(line)
    assert isinstance(item, Bad)
    assert said in item.reason
