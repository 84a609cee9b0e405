from __future__ import annotations

import base64
import json
import os
import zlib
from pathlib import Path
from typing import Any

import pytest

from toolpost import Limits, ToolContext, ToolFailed
from toolpost.testing import call_tool, make_context
from toolpost_tool_read import Read

READ = Read()


@pytest.fixture
def ctx(tmp_path: Path) -> ToolContext:
    return make_context(tmp_path)


async def read(ctx: ToolContext, name: str, **more: Any) -> Any:
    result = await call_tool(READ, {"file_path": str(ctx.cwd / name), **more}, ctx)
    return READ.to_result_block(result.data, "toolu_1")["content"]


def put(ctx: ToolContext, name: str, content: str | bytes) -> Path:
    path = ctx.cwd / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def png(width: int = 1, height: int = 1) -> bytes:
    def chunk(kind: bytes, body: bytes) -> bytes:
        return len(body).to_bytes(4, "big") + kind + body + zlib.crc32(kind + body).to_bytes(4, "big")

    header = width.to_bytes(4, "big") + height.to_bytes(4, "big") + b"\x08\x02\0\0\0"
    pixels = zlib.compress(b"\0\0\0\0")
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


async def test_lines_come_with_their_numbers_and_a_tab(ctx: ToolContext) -> None:
    put(ctx, "a.txt", "alpha\r\n  two\n\tthree")

    assert await read(ctx, "a.txt") == "     1\talpha\n     2\t  two\n     3\t\tthree"


async def test_a_range_has_the_numbers_of_the_file_and_says_how_to_read_on(ctx: ToolContext) -> None:
    put(ctx, "a.txt", "one\ntwo\nthree\nfour\n")

    assert await read(ctx, "a.txt", offset=2, limit=2) == (
        "     2\ttwo\n     3\tthree\n\n(Lines 2-3 of 4. Read on with offset=4 and limit.)"
    )
    assert await read(ctx, "a.txt", offset=0, limit=1) == (
        "     1\tone\n\n(Lines 1-1 of 4. Read on with offset=2 and limit.)"
    )
    assert await read(ctx, "a.txt", offset=9) == "(The file has 4 lines; offset 9 lies behind its end.)"


async def test_more_than_fits_is_cut_between_lines(tmp_path: Path) -> None:
    ctx = make_context(tmp_path, limits=Limits(read_max_tokens=100))
    put(ctx, "a.txt", "a line of twenty-two c\n" * 100)

    text = await read(ctx, "a.txt")

    assert "(Lines 1-13 of 100 (as many as fit). Read on with offset=14 and limit.)" in text
    assert ctx.reads.get(ctx.cwd / "a.txt").partial  # type: ignore[union-attr]


async def test_an_empty_file_says_so(ctx: ToolContext) -> None:
    put(ctx, "e.txt", "")

    assert await read(ctx, "e.txt") == "(The file is empty.)"


async def test_a_long_line_is_cut_with_a_mark(ctx: ToolContext) -> None:
    put(ctx, "min.js", "x" * 5000)

    assert await read(ctx, "min.js") == "     1\t" + "x" * 2000 + "… [truncated: 3000 more characters]"


async def test_the_same_lines_of_an_unchanged_file_are_not_sent_twice(ctx: ToolContext) -> None:
    path = put(ctx, "a.txt", "one\n")
    await read(ctx, "a.txt")

    assert "unchanged" in await read(ctx, "a.txt")
    assert "one" in await read(ctx, "a.txt", limit=1)
    path.write_text("two!\n")
    assert "two!" in await read(ctx, "a.txt", limit=1)


async def test_what_compaction_took_out_of_the_conversation_is_sent_again(ctx: ToolContext) -> None:
    put(ctx, "a.txt", "one\n")
    await read(ctx, "a.txt")
    ctx.reads.clear_shown()

    assert "one" in await read(ctx, "a.txt")


async def test_pictures_are_told_by_their_bytes_and_end_where_the_format_does(ctx: ToolContext) -> None:
    put(ctx, "shot.txt", png() + b"junk")

    (block,) = await read(ctx, "shot.txt")

    assert block["source"]["media_type"] == "image/png"
    assert base64.b64decode(block["source"]["data"]) == png()


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (png()[:40], "damaged or cut off"),
        (png().replace(b"IDAT", b"IDAX"), "checksum|no pixels"),
        (png(9000), "damaged or cut off"),
        (png(20_000, 20_000), "20000 x 20000 pixels"),
        (b"\xff\xd8\xff\xe0\0\x04ab", "damaged or cut off"),
        (b"GIF89a\x01\0\x01\0", "no frame"),
        (b"RIFF\xff\0\0\0WEBPVP8 ", "too early"),
    ],
)
async def test_pictures_that_the_service_would_refuse_are_refused_here(
    ctx: ToolContext, content: bytes, why: str
) -> None:
    put(ctx, "p.png", content)

    with pytest.raises(ToolFailed, match=why):
        await read(ctx, "p.png")


@pytest.mark.parametrize("cut", range(0, 60, 7))
async def test_a_picture_cut_anywhere_is_never_sent(ctx: ToolContext, cut: int) -> None:
    put(ctx, "p.png", png()[: max(cut, 12)])

    with pytest.raises(ToolFailed, match=r"p\.png"):
        await read(ctx, "p.png")


async def test_a_notebook_comes_cell_by_cell_with_its_pictures(ctx: ToolContext) -> None:
    outputs = [
        {"output_type": "stream", "text": ["out\n"]},
        {"output_type": "display_data", "data": {"image/png": base64.b64encode(png()).decode()}},
        {"output_type": "display_data", "data": {"image/png": "AAAA", "text/plain": "<Figure>"}},
        {"output_type": "error", "traceback": ["Boom"]},
    ]
    cells = [
        {"cell_type": "markdown", "id": "intro", "source": ["# Title"]},
        {"cell_type": "code", "source": "print('hi')", "outputs": outputs},
    ]
    put(ctx, "n.ipynb", json.dumps({"cells": cells, "metadata": {}}))

    first, picture, last = await read(ctx, "n.ipynb")

    assert '<cell id="intro" type="markdown">\n# Title\n</cell>' in first["text"]
    assert '<cell id="cell-1" type="code" language="python">\nprint(\'hi\')' in first["text"]
    assert picture["type"] == "image"
    assert "<Figure>\n[image/png that can't be shown]" in last["text"]
    assert "Boom" in last["text"]


@pytest.mark.parametrize("content", ["{", "[]", '{"cells": 1}', '{"cells": [1, {"outputs": [2]}]}', "[" * 100_000])
async def test_a_broken_notebook_is_shown_or_explained(ctx: ToolContext, content: str) -> None:
    put(ctx, "n.ipynb", content)

    assert await read(ctx, "n.ipynb")


async def test_what_is_no_text_is_refused_with_the_reason(ctx: ToolContext) -> None:
    put(ctx, "a.o", bytes(range(256)))
    os.mkfifo(ctx.cwd / "pipe")
    (ctx.cwd / "loop").symlink_to("loop")
    (ctx.cwd / "gone").symlink_to("nowhere")

    for name, why in [
        ("a.o", "binary file"),
        ("pipe", "named pipe"),
        ("/dev/zero", "device"),
        (".", r"folder\. Use Glob"),
        ("loop", "circle"),
        ("gone", "symbolic link to 'nowhere', which does not exist"),
    ]:
        with pytest.raises(ToolFailed, match=why):
            await read(ctx, name)


async def test_a_missing_file_gets_suggestions(ctx: ToolContext) -> None:
    (ctx.cwd / "src").mkdir()
    put(ctx, "src/settings.py", "x")
    put(ctx, "Shot 10.00\u202fAM.txt", "x")

    for name, meant in [
        ("src/setings.py", "src/settings.py"),
        ("src/settings.js", "src/settings.py"),
        ("/repo/src/settings.py", "src/settings.py"),
        ("Shot 10.00 AM.txt", "Shot 10.00\u202fAM.txt"),
        ("'src/settings.py'", "src/settings.py"),
    ]:
        with pytest.raises(ToolFailed) as failed:
            await read(ctx, name)
        assert f"Did you mean {ctx.cwd / meant}" in str(failed.value)
        assert ("Shot 10.00\\u202fAM.txt" in str(failed.value)) == ("\u202f" in meant)


@pytest.mark.parametrize("content", [b"\x1f\x8b\x08" + bytes(range(1, 255)), b"\x7fELF\x02\x01\x01\x03\x03"])
async def test_a_file_full_of_control_characters_is_binary(ctx: ToolContext, content: bytes) -> None:
    put(ctx, "a.gz", content)

    with pytest.raises(ToolFailed, match="is a binary file"):
        await read(ctx, "a.gz")


async def test_a_notebook_shows_what_it_printed_without_colours_and_results_in_their_plainest_form(
    ctx: ToolContext,
) -> None:
    outputs = [
        {"output_type": "error", "traceback": ["\x1b[0;31mValueError\x1b[0m: bad"]},
        {"output_type": "execute_result", "data": {"text/html": "<b>bold</b>", "text/latex": "$x$"}},
    ]
    cell = {"cell_type": "code", "source": "x", "outputs": outputs}
    put(ctx, "N.IPYNB", json.dumps({"cells": [cell], "nbformat": 4, "nbformat_minor": 4}))

    (block,) = await read(ctx, "N.IPYNB")

    assert "\nValueError: bad\n" in block["text"]
    assert "\n$x$\n" in block["text"]
    assert "<b>" not in block["text"]


async def test_a_huge_file_needs_a_range_and_is_then_read_without_holding_it(tmp_path: Path) -> None:
    ctx = make_context(tmp_path, limits=Limits(read_max_bytes=1000))
    put(ctx, "big.log", "".join(f"line {n}\n" for n in range(1, 1000)) + "last")

    with pytest.raises(ToolFailed, match="Give offset and limit"):
        await read(ctx, "big.log")
    assert await read(ctx, "big.log", offset=999) == "   999\tline 999\n  1000\tlast"
    assert "Lines 500-501 of 1000." in await read(ctx, "big.log", offset=500, limit=2)
    assert "has 1000 lines" in await read(ctx, "big.log", offset=5000)


async def test_who_says_so_reads_more_at_once(tmp_path: Path) -> None:
    ctx = make_context(tmp_path, limits=Limits(read_max_bytes=1_000, read_max_tokens=100))
    put(ctx, "a.txt", "0123456789\n" * 100)

    assert (await read(ctx, "a.txt", allow_large=True)).count("0123456789") == 4 * (
        await read(ctx, "a.txt", limit=100)
    ).count("0123456789")


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "cp1252"])
async def test_a_huge_file_is_decoded_too(tmp_path: Path, encoding: str) -> None:
    ctx = make_context(tmp_path, limits=Limits(read_max_bytes=1_000))
    put(ctx, "a.txt", ("déjà vu\n" * 1_000).encode(encoding))

    assert (await read(ctx, "a.txt", offset=1, limit=2)).startswith("     1\tdéjà vu\n     2\tdéjà vu\n")


async def test_one_endless_line_of_a_huge_file_is_cut(tmp_path: Path) -> None:
    ctx = make_context(tmp_path, limits=Limits(read_max_bytes=1000))
    put(ctx, "big.js", "x" * 3_000_000 + "\nend\n")

    text = await read(ctx, "big.js", offset=1)

    assert len(text) < 3000
    assert text.endswith("     2\tend")


async def test_stray_bytes_are_shown_and_can_be_sent(ctx: ToolContext) -> None:
    put(ctx, "a.txt", "naïve\n".encode("latin-1") + b"end")

    assert (await read(ctx, "a.txt")).encode()
