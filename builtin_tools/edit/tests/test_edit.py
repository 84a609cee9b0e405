from __future__ import annotations

import asyncio
import hashlib
import os
import tempfile
import unicodedata
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolpost import FileRecord, InvalidInput, ToolContext, ToolFailed
from toolpost.testing import call_tool, make_context
from toolpost_tool_edit import Edit

EDIT = Edit()


@pytest.fixture
def ctx(tmp_path: Path) -> ToolContext:
    return make_context(tmp_path)


def seen(ctx: ToolContext, content: str | bytes, name: str = "a.txt") -> Path:
    """Put a file there and note it as read."""
    path = ctx.cwd / name
    data = content.encode() if isinstance(content, str) else content
    path.write_bytes(data)
    found = path.stat()
    record = FileRecord(digest=hashlib.sha256(data).hexdigest(), mtime_ns=found.st_mtime_ns, size=found.st_size)
    ctx.reads.put(path, record)
    return path


async def edit(ctx: ToolContext, old: str, new: str, name: str = "a.txt", *, replace_all: bool = False) -> Any:
    given = {"file_path": str(ctx.cwd / name), "old_string": old, "new_string": new, "replace_all": replace_all}
    return (await call_tool(EDIT, given, ctx)).data


async def refused(ctx: ToolContext, old: str, new: str, why: str, **more: Any) -> None:
    """Check that an edit is refused with a reason and leaves bytes and time alone."""
    path = ctx.cwd / "a.txt"
    before = (path.read_bytes(), path.stat().st_mtime_ns) if path.exists() else None
    with pytest.raises((ToolFailed, InvalidInput), match=why):
        await edit(ctx, old, new, **more)
    assert ((path.read_bytes(), path.stat().st_mtime_ns) if path.exists() else None) == before


@pytest.mark.parametrize(("form", "other"), [("NFC", "NFD"), ("NFD", "NFC")])
async def test_letters_match_however_their_accents_are_composed_and_the_files_way_is_kept(
    ctx: ToolContext, form: Literal["NFC", "NFD"], other: Literal["NFC", "NFD"]
) -> None:
    path = seen(ctx, unicodedata.normalize(form, "un café noir\n"))

    await edit(ctx, unicodedata.normalize(other, "café noir"), unicodedata.normalize(other, "thé frappé"))

    assert path.read_text() == unicodedata.normalize(form, "un thé frappé\n")


async def test_a_byte_order_mark_in_the_text_is_that_of_the_file(ctx: ToolContext) -> None:
    path = seen(ctx, "\ufeffone\ntwo\n")

    await edit(ctx, "\ufeffone", "\ufeff1")

    assert path.read_text() == "\ufeff1\ntwo\n"


async def test_a_text_that_overlaps_itself_does_not_stand_there_once(ctx: ToolContext) -> None:
    path = seen(ctx, b"a\r\n---\r\n")

    with pytest.raises(ToolFailed, match=r"occurs 2 times .* \(lines 2, 2\)"):
        await edit(ctx, "--", "x")
    await edit(ctx, "\n---\n", "\n+++\n")

    assert path.read_bytes() == b"a\r\n+++\r\n"


async def test_the_result_shows_the_changed_lines_as_they_are_now(ctx: ToolContext) -> None:
    seen(ctx, "".join(f"{n}\n" for n in range(1, 21)))

    data = await edit(ctx, "10\n11\n", "ten\n")

    assert data["structuredPatch"] == [
        {
            "oldStart": 7,
            "oldLines": 8,
            "newStart": 7,
            "newLines": 7,
            "lines": [" 7", " 8", " 9", "-10", "-11", "+ten", " 12", " 13", " 14"],
        }
    ]
    text = EDIT.to_result_block(data, "t")["content"]
    assert text == f"Edited {ctx.cwd}/a.txt.\n" + "\n".join(
        f"{n:6}\t{line}" for n, line in enumerate(["7", "8", "9", "ten", "12", "13", "14"], 7)
    )


async def test_edits_follow_one_another_without_a_new_read(ctx: ToolContext) -> None:
    path = seen(ctx, "one two")

    await edit(ctx, "one", "1")
    await edit(ctx, "two", "2")

    assert path.read_text() == "1 2"


async def test_every_occurrence_is_replaced_once_where_that_was_asked_for(ctx: ToolContext) -> None:
    path = seen(ctx, "a,a\n" * 50)

    data = await edit(ctx, "a", "aa", replace_all=True)

    assert path.read_text() == "aa,aa\n" * 50
    assert str(EDIT.to_result_block(data, "t")["content"]).startswith("Replaced 100 occurrences in")


@pytest.mark.parametrize(
    ("content", "old", "new", "after"),
    [
        ("using A;\r\nclass X\r\n", "using A;", "using A;\nusing B;", "using A;\r\nusing B;\r\nclass X\r\n"),
        ("one\r\ntwo\r\n", "one\r\ntwo", "1\r\n2", "1\r\n2\r\n"),
        ("a\nb\r\nc\r\nd\n", "b\nc", "B\nC\nD", "a\nB\r\nC\r\nD\r\nd\n"),
        ("head\rone\rtwo\r", "one\ntwo", "1\n2", "head\r1\r2\r"),
        ("10%\r20%\rdone\nnext\n", "next", "x\ny", "10%\r20%\rdone\nx\ny\n"),
        ("one\ntwo\n", "one\r\ntwo", "1\r\n2", "1\n2\n"),
        ("a\r\nlast", "last", "last\nmore", "a\r\nlast\r\nmore"),
    ],
)
async def test_line_endings_follow_the_file(ctx: ToolContext, content: str, old: str, new: str, after: str) -> None:
    path = seen(ctx, content)

    await edit(ctx, old, new)

    assert path.read_bytes() == after.encode()


@pytest.mark.parametrize(
    ("content", "old", "new", "after"),
    [
        ("say “hi” – it’s ok", '"hi" - it\'s', "\"hi\" - it's 'so'", "say “hi” – it’s ‘so’ ok"),
        ("sum in\u00a0EUR = 1", "sum in EUR = 1", "sum in EUR = 2", "sum in\u00a0EUR = 2"),
        ("say 'hi'", "'hi'", "‘hi’", "say ‘hi’"),
        ("say 'hi'", "‘hi’", "‘ho’", "say 'ho'"),
    ],
)
async def test_typographic_characters_match_and_stay(
    ctx: ToolContext, content: str, old: str, new: str, after: str
) -> None:
    path = seen(ctx, content)

    await edit(ctx, old, new)

    assert path.read_text() == after


async def test_encoding_and_mark_stay(ctx: ToolContext) -> None:
    path = seen(ctx, b"\xef\xbb\xbfhello\r\nworld\r\n")
    other = seen(ctx, "conclu\u00edda".encode("latin-1"), "b.txt")

    await edit(ctx, "hello\nworld", "hi\nworld")
    await edit(ctx, "conclu\u00edda", "n\u00e3o", "b.txt")

    assert path.read_bytes() == b"\xef\xbb\xbfhi\r\nworld\r\n"
    assert other.read_bytes() == "n\u00e3o".encode("latin-1")


async def test_a_character_that_the_encoding_lacks_is_refused(ctx: ToolContext) -> None:
    seen(ctx, "caf\u00e9".encode("latin-1"))

    await refused(ctx, "caf", "\u2192", "written in latin-1, which has no '\u2192'")


async def test_a_file_is_read_first_and_unchanged_since(ctx: ToolContext) -> None:
    await refused(ctx, "x", "y", "does not exist")
    path = ctx.cwd / "a.txt"
    path.write_text("x")
    await refused(ctx, "x", "y", "has not been read yet. Read it first")
    seen(ctx, "x")
    path.write_text("x and more")
    await refused(ctx, "x", "y", "has changed since it was read")
    path.unlink()
    await refused(ctx, "x", "y", "no longer exists")


async def test_a_change_that_time_and_size_do_not_tell_can_be_read_again(ctx: ToolContext) -> None:
    path = seen(ctx, "one")
    path.write_text("two")

    await refused(ctx, "two", "2", "has changed since it was read")

    record = ctx.reads.get(path)
    assert record is not None
    assert not record.shown


async def test_a_touch_alone_is_no_change(ctx: ToolContext) -> None:
    path = seen(ctx, "x")
    os.utime(path, (1, 1))

    await edit(ctx, "x", "y")

    assert path.read_text() == "y"


@pytest.mark.parametrize(
    ("content", "old", "why"),
    [
        (
            "def f(a):\n    return  a\n",
            "def f(a):\n\treturn a",
            r"Line 1 differs only in white space: the file has '    r",
        ),
        ("def f(a):\n    return a\n", "     1\tdef f(a):", "line numbers that Read shows"),
        ("one\ntwo\n", "one\\ntwo", "backslash-n"),
        ("Alpha Beta\n", "alpha beta", "differs in upper and lower case: 'Alpha Beta'"),
        ("x\ncolour = red\n", "color = red", "At the nearest place line 2 of the file has 'colour = red'"),
        ("print('a\\nb')\n", "print('a\nb')", "escape sequences"),
        ("if a < b:\n", "if a &lt; b:", "HTML entities"),
        ("word\n", "\nword\n", "without the blanks or line breaks"),
        ("alpha\n", "omega", r"was not found in .*a\.txt\.$"),
    ],
)
async def test_what_is_not_found_is_explained(ctx: ToolContext, content: str, old: str, why: str) -> None:
    seen(ctx, content)

    await refused(ctx, old, "x", why)


async def test_what_is_not_unique_is_counted_with_its_lines(ctx: ToolContext) -> None:
    seen(ctx, "begin\nend\n--\nbegin\nend\n")

    await refused(ctx, "begin\nend", "x", r"occurs 2 times in .* \(lines 1, 4\)")


async def test_an_edit_that_changes_nothing_is_refused(ctx: ToolContext) -> None:
    seen(ctx, "a\r\nb")

    await refused(ctx, "a", "a", "are the same")
    await refused(ctx, "a\nb", "a\r\nb", "would change nothing")


async def test_half_a_character_is_refused(ctx: ToolContext) -> None:
    seen(ctx, "a")

    await refused(ctx, "a", "\ud83d", "lone surrogate")


async def test_an_empty_old_string_creates_a_file_but_never_overwrites_one(ctx: ToolContext) -> None:
    data = await edit(ctx, "", "new\n", "x/y.txt")
    (ctx.cwd / "empty").touch()
    await edit(ctx, "", "filled", "empty")
    seen(ctx, "content")

    assert (ctx.cwd / "x/y.txt").read_text() == "new\n"
    assert EDIT.to_result_block(data, "t")["content"] == f"Created {ctx.cwd}/x/y.txt.\n     1\tnew"
    assert (ctx.cwd / "empty").read_text() == "filled"
    await refused(ctx, "", "x", "exists and has content")


async def test_a_huge_line_does_not_come_back_in_the_result(ctx: ToolContext) -> None:
    path = seen(ctx, "x" * 500_000 + "TOKEN" + "y" * 500_000)

    data = await edit(ctx, "TOKEN", "token")

    assert path.stat().st_size == 1_000_005
    assert len(str(EDIT.to_result_block(data, "t")["content"])) < 1_000


TEXTS = st.text(st.sampled_from("ab'’\"“- –\n\té\u00a0"), max_size=40)
ENDINGS = st.lists(st.sampled_from(["\n", "\r\n"]), min_size=1, max_size=3)


def with_endings(text: str, endings: list[str]) -> str:
    return "".join(
        endings[number % len(endings)] if character == "\n" else character for number, character in enumerate(text)
    )


@settings(deadline=None)
@given(
    before=TEXTS,
    old=TEXTS.filter(bool),
    after=TEXTS,
    new=TEXTS,
    endings=ENDINGS,
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
)
def test_an_edit_changes_the_replaced_span_and_nothing_else(
    before: str, old: str, after: str, new: str, endings: list[str], encoding: str
) -> None:
    raw_before, raw_old, raw_after = (with_endings(part, endings) for part in (before, old, after))
    original = (raw_before + raw_old + raw_after).encode(encoding)
    with tempfile.TemporaryDirectory() as folder:
        ctx = make_context(Path(folder))
        path = seen(ctx, original)
        time = path.stat().st_mtime_ns
        try:
            asyncio.run(edit(ctx, old, new))
        except (ToolFailed, InvalidInput):
            assert path.read_bytes() == original
            assert path.stat().st_mtime_ns == time
            return
        text = path.read_bytes().decode(encoding)
    # It was applied, so the place was unique: what lay round it is still there.
    assert text.startswith(raw_before)
    assert text.endswith(raw_after)
    assert text[len(raw_before) : len(text) - len(raw_after)].replace("\r\n", "\n") == new
