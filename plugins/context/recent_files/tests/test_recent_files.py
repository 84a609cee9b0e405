from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from toolpost import Compacted, Message, Section, tokens_in_text
from toolpost.testing import make_scope
from toolpost_context_recent_files import RecentFiles


def call(number: int, path: object, tool: str = "Read", *, failed: bool = False) -> list[Message]:
    use: Any = {"type": "tool_use", "id": f"id{number}", "name": tool, "input": {"file_path": str(path)}}
    result: Any = {"type": "tool_result", "tool_use_id": f"id{number}", "content": "ok", "is_error": failed}
    return [{"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]


def talk(*calls: list[Message]) -> list[Message]:
    start: Message = {"role": "user", "content": "go"}
    return [start, *(message for two in calls for message in two)]


async def attached(
    folder: Path, before: list[Message], left: Sequence[Message] = (), plugin: RecentFiles | None = None
) -> Sequence[Section]:
    return await (plugin or RecentFiles()).after_compaction(make_scope(folder), Compacted(before=before, left=left))


def files(folder: Path, *names: str) -> list[Path]:
    for name in names:
        (folder / name).write_text(f"the text of {name}\n")
    return [folder / name for name in names]


async def test_the_five_newest_files_are_shown_as_they_are_now(tmp_path: Path) -> None:
    paths = files(tmp_path, *"abcdefg")
    before = talk(*(call(number, path) for number, path in enumerate(paths)))
    (tmp_path / "g").write_text("changed since\n")
    sections = await attached(tmp_path, before)
    assert [section.text.split()[0] for section in sections] == [str(path) for path in reversed(paths[2:])]
    assert sections[0].text.endswith("changed since\n")
    assert [section.name for section in sections] == sorted(section.name for section in sections)


async def test_a_file_counts_once_from_where_it_was_used_last(tmp_path: Path) -> None:
    a, b = files(tmp_path, "a", "b")
    sections = await attached(tmp_path, talk(call(0, a), call(1, b), call(2, a, "Edit")))
    assert [section.text.split()[0] for section in sections] == [str(a), str(b)]


async def test_what_the_conversation_still_shows_is_left_out(tmp_path: Path) -> None:
    a, b = files(tmp_path, "a", "b")
    before = talk(call(0, a), call(1, b))
    (section,) = await attached(tmp_path, before, left=before[3:])
    assert str(a) in section.text


async def test_failed_calls_other_tools_and_files_that_are_gone_or_no_text_do_not_count(tmp_path: Path) -> None:
    a, b, c = files(tmp_path, "a", "b", "c")
    (tmp_path / "raw").write_bytes(b"\xff\xfe\x00")
    before = talk(
        call(0, a, failed=True),
        call(1, b, "Grep"),
        call(2, tmp_path / "gone"),
        call(3, tmp_path / "raw"),
        call(4, "relative.txt"),
        call(5, c),
    )
    (section,) = await attached(tmp_path, before)
    assert str(c) in section.text


async def test_a_long_file_loses_its_middle(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("first " + "word " * 50_000 + "last")
    (section,) = await attached(tmp_path, talk(call(0, tmp_path / "a")))
    assert section.text.endswith("word last")
    assert "characters left out" in section.text
    assert 4_000 < tokens_in_text(section.text) <= 5_000


async def test_the_settings_say_how_many(tmp_path: Path) -> None:
    a, b = files(tmp_path, "a", "b")
    (section,) = await attached(tmp_path, talk(call(0, a), call(1, b)), plugin=RecentFiles(files=1))
    assert str(b) in section.text


async def test_a_conversation_begins_without_any(tmp_path: Path) -> None:
    assert await RecentFiles().sections(make_scope(tmp_path)) == ()
