from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

import pytest

from toolpost import Diff, FileRecord, InvalidInput, ToolContext, ToolFailed
from toolpost.testing import call_tool, make_context
from toolpost_tool_write import Write

WRITE = Write()


@pytest.fixture
def ctx(tmp_path: Path) -> ToolContext:
    return make_context(tmp_path)


async def write(ctx: ToolContext, name: str, content: str) -> Any:
    return (await call_tool(WRITE, {"file_path": str(ctx.cwd / name), "content": content}, ctx)).data


def seen(ctx: ToolContext, name: str, content: bytes) -> Path:
    """Put a file there and note it as read."""
    path = ctx.cwd / name
    path.write_bytes(content)
    found = path.stat()
    record = FileRecord(digest=hashlib.sha256(content).hexdigest(), mtime_ns=found.st_mtime_ns, size=found.st_size)
    ctx.reads.put(path, record)
    return path


async def test_a_new_file_is_created_with_its_folders(ctx: ToolContext) -> None:
    data = await write(ctx, "a/b/c.txt", "one\ntwo")

    assert (ctx.cwd / "a/b/c.txt").read_text() == "one\ntwo"
    assert (data["type"], data["originalFile"], data["structuredPatch"]) == ("create", None, [])
    assert "c.txt (2 lines)" in str(WRITE.to_result_block(data, "t")["content"])
    assert WRITE.render_result(data) == Diff(str(ctx.cwd / "a/b/c.txt"), None, "one\ntwo")


async def test_a_write_that_changes_no_line_says_so(ctx: ToolContext) -> None:
    seen(ctx, "a.txt", b"one\r\ntwo\r\n")

    data = await write(ctx, "a.txt", "one\ntwo\n")

    assert "(no line changed)" in str(WRITE.to_result_block(data, "t")["content"])


@pytest.mark.parametrize(("content", "why"), [(b"\x7fELF\0\0", "remove it first"), (b"\xff\xfea\0", "Read it first")])
async def test_a_file_that_nobody_read_says_what_to_do_first(ctx: ToolContext, content: bytes, why: str) -> None:
    (ctx.cwd / "a").write_bytes(content)

    with pytest.raises(ToolFailed, match=why):
        await write(ctx, "a", "text")


async def test_a_file_that_was_read_is_replaced_and_may_be_replaced_again(ctx: ToolContext) -> None:
    path = seen(ctx, "a.txt", b"1\n2\n3\n4\n5\n6\n7\n8\n9\n")

    data = await write(ctx, "a.txt", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n")
    await write(ctx, "a.txt", "gone")

    assert path.read_text() == "gone"
    assert data["structuredPatch"] == [
        {
            "oldStart": 2,
            "oldLines": 7,
            "newStart": 2,
            "newLines": 7,
            "lines": [" 2", " 3", " 4", "-5", "+five", " 6", " 7", " 8"],
        }
    ]
    assert "(+1 -1 lines)" in str(WRITE.to_result_block(data, "t")["content"])


async def test_a_file_that_was_not_read_is_not_replaced(ctx: ToolContext) -> None:
    (ctx.cwd / "a.txt").write_text("precious")

    with pytest.raises(ToolFailed, match="has not been read"):
        await write(ctx, "a.txt", "x")

    assert (ctx.cwd / "a.txt").read_text() == "precious"


async def test_a_file_that_changed_since_is_not_replaced(ctx: ToolContext) -> None:
    path = seen(ctx, "a.txt", b"v1")
    path.write_bytes(b"v2 by somebody else")

    with pytest.raises(ToolFailed, match="has changed since"):
        await write(ctx, "a.txt", "x")

    assert path.read_bytes() == b"v2 by somebody else"


async def test_a_touch_alone_is_no_change(ctx: ToolContext) -> None:
    path = seen(ctx, "a.txt", b"v1")
    os.utime(path, (1, 1))

    await write(ctx, "a.txt", "v2")

    assert path.read_bytes() == b"v2"


async def test_an_empty_file_that_nobody_read_may_be_filled(ctx: ToolContext) -> None:
    (ctx.cwd / "a.txt").touch()

    await write(ctx, "a.txt", "x")

    assert (ctx.cwd / "a.txt").read_text() == "x"


async def test_line_endings_are_the_models_and_the_encoding_is_the_files(ctx: ToolContext) -> None:
    path = seen(ctx, "a.txt", b"\xff\xfe" + "x\r\ny\r\n".encode("utf-16-le"))

    await write(ctx, "a.txt", "p\nq\n")

    assert path.read_bytes() == b"\xff\xfe" + "p\nq\n".encode("utf-16-le")


async def test_an_encoding_that_lacks_a_character_gives_way_to_utf8_and_says_so(ctx: ToolContext) -> None:
    path = seen(ctx, "a.txt", "caf\u00e9".encode("latin-1"))

    data = await write(ctx, "a.txt", "\u2192")

    assert path.read_text(encoding="utf-8") == "\u2192"
    assert "it is UTF-8 now" in str(WRITE.to_result_block(data, "t")["content"])


async def test_half_a_character_is_refused_before_anything_is_written(ctx: ToolContext) -> None:
    path = seen(ctx, "a.txt", b"precious")

    with pytest.raises(InvalidInput, match="lone surrogate"):
        await write(ctx, "a.txt", "new \ud83d")

    assert path.read_bytes() == b"precious"


async def test_folders_and_files_in_the_way_are_named(ctx: ToolContext) -> None:
    (ctx.cwd / "f").write_text("file")

    with pytest.raises(ToolFailed, match=r"Not a directory"):
        await write(ctx, "f/sub/a.txt", "x")
    with pytest.raises(ToolFailed, match="is a folder"):
        await write(ctx, ".", "x")

    assert (ctx.cwd / "f").read_text() == "file"
