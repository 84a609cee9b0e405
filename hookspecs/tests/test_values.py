"""Rules, prices, the stash, turns of a conversation."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolpost import (
    Context,
    FileRecord,
    Message,
    Price,
    ReadState,
    Rule,
    Section,
    SettingsError,
    Stash,
    StashKey,
    TextFile,
    Usage,
    object_in,
)
from toolpost.testing import conversation


@pytest.mark.parametrize(
    ("text", "tool", "specifier"),
    [
        ("Bash", "Bash", None),
        (" Bash ", "Bash", None),
        ("Bash(git status:*)", "Bash", "git status:*"),
        ("Bash(echo (a))", "Bash", "echo (a)"),
        ("Read(~/notes/**)", "Read", "~/notes/**"),
        ("Read(*)", "Read", None),
        ("Read()", "Read", None),
        ("mcp__server__*", "mcp__server__*", None),
    ],
)
def test_a_rule_is_a_tool_and_perhaps_a_specifier(text: str, tool: str, specifier: str | None) -> None:
    rule = Rule.parse(text, "allow")
    assert (rule.tool, rule.specifier) == (tool, specifier)


@pytest.mark.parametrize("text", ["", "  ", "(git)", "Bash(git", "Bash)", "Bash(git) and more"])
def test_what_is_no_rule_is_refused_with_an_example_of_one(text: str) -> None:
    with pytest.raises(SettingsError, match="is not a permission rule"):
        Rule.parse(text, "deny")


@given(st.from_regex(r"[A-Za-z_]{1,12}", fullmatch=True), st.text(max_size=30))
def test_a_rule_reads_back_what_it_writes(tool: str, specifier: str) -> None:
    rule = Rule.parse(f"{tool}({specifier})", "ask")
    assert Rule.parse(str(rule), "ask") == rule


def test_a_price_counts_each_kind_of_token_once() -> None:
    price = Price(input=1.0, output=10.0, cache_write=2.0, cache_read=0.5, cache_write_1h=4.0)
    usage = Usage(
        input_tokens=1_000_000,
        output_tokens=200_000,
        cache_creation_input_tokens=300_000,
        cache_read_input_tokens=400_000,
        cache_creation_1h_input_tokens=100_000,
    )
    assert price.of(usage) == pytest.approx(1.0 + 2.0 + 0.2 + 0.4 + 0.4)


def test_a_long_prompt_costs_what_long_prompts_cost() -> None:
    long = Price(input=4.0, output=0.0, cache_write=0.0, cache_read=4.0)
    price = Price(input=1.0, output=0.0, cache_write=0.0, cache_read=1.0, above_tokens=1_000_000, above=long)
    assert price.of(Usage(input_tokens=1_000_000)) == pytest.approx(1.0)
    assert price.of(Usage(input_tokens=1_000_000, cache_read_input_tokens=1_000_000)) == pytest.approx(8.0)


async def test_a_stash_closes_what_was_stored_last_first() -> None:
    closed: list[str] = []
    stash = Stash()
    for name in ("first", "second", "third"):
        stash[StashKey(name)] = Closes(name, closed)
    stash[StashKey[int]("a number")] = 7
    await stash.aclose()
    assert closed == ["third", "second", "first"]


async def test_a_value_that_fails_to_close_does_not_keep_the_others_open() -> None:
    closed: list[str] = []
    stash = Stash()
    stash[StashKey("first")] = Closes("first", closed)
    stash[StashKey("broken")] = Closes("broken", closed, fails=True)
    with pytest.raises(OSError, match="broken"):
        await stash.aclose()
    assert closed == ["broken", "first"]


def test_two_keys_of_one_name_are_two_keys() -> None:
    stash = Stash()
    one, two = StashKey[str]("name"), StashKey[str]("name")
    stash[one] = "mine"
    assert stash.get(two, "nothing") == "nothing"
    assert stash.setdefault(one, "other") == "mine"


@given(st.lists(st.integers(0, 3), max_size=8), st.integers(0, 10))
def test_the_last_turns_never_cut_a_call_from_its_result(calls: list[int], turns: int) -> None:
    messages: list[Message] = [message for count in calls for message in conversation(1, calls=count, result="x")]
    kept = Context(messages=messages).last_turns(turns)
    assert list(kept) == messages[len(messages) - len(kept) :]
    assert not kept or kept[0]["content"] == "Prompt 0"
    assert sum(message["content"] == "Prompt 0" for message in kept) == (min(turns, len(calls)) or len(calls))


class Closes:
    def __init__(self, name: str, closed: list[str], *, fails: bool = False) -> None:
        self.name, self.closed, self.fails = name, closed, fails

    async def aclose(self) -> None:
        self.closed.append(self.name)
        if self.fails:
            raise OSError(self.name)


def test_a_file_is_as_it_was_by_content_and_by_time_where_none_was_hashed(tmp_path: Path) -> None:
    file = TextFile(tmp_path, "a", "a", "utf-8", False, "\n", False, digest="one", mtime_ns=1, size=1)
    written = FileRecord.of(file)

    assert (written.shown, written.partial) == (False, False)
    assert written.matches(replace(file, mtime_ns=2))
    assert not written.matches(replace(file, digest="two"))
    by_time = FileRecord(digest="", mtime_ns=1, size=1)
    assert by_time.matches(file)
    assert not by_time.matches(replace(file, mtime_ns=2))


def test_what_is_out_of_date_in_the_conversation_is_shown_again_and_still_known(tmp_path: Path) -> None:
    reads = ReadState()
    reads.put(tmp_path, FileRecord(digest="one", mtime_ns=1, size=1))
    reads.outdate(tmp_path)
    reads.outdate(tmp_path / "other")

    assert reads.get(tmp_path) == FileRecord(digest="one", mtime_ns=1, size=1, shown=False)
    assert reads.get(tmp_path / "other") is None


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        ('{"ok": true}', {"ok": True}),
        (' ```json\n{"ok": {"a": 1}}\n``` ', {"ok": {"a": 1}}),
        ('{"ok": true} {"ok": false}', None),
        ("[1]", None),
        ("yes", None),
        ("[" * 100_000, None),
    ],
)
def test_an_answer_that_is_one_json_object_is_read_and_nothing_else(answer: str, found: object) -> None:
    assert object_in(answer) == found


@pytest.mark.parametrize(
    ("flags", "why", "wrong"),
    [({}, " ", "set why_volatile"), ({"static": True}, "x", "and static"), ({"user": True}, "x", "and user")],
)
def test_a_section_that_costs_the_cache_says_why_and_stands_where_it_can_change(
    flags: dict[str, Any], why: str, wrong: str
) -> None:
    with pytest.raises(ValueError, match=wrong) as raised:
        Section(name="clock", text="12:00", volatile=True, why_volatile=why, **flags)
    assert "'clock'" in str(raised.value)
