from __future__ import annotations

import base64
import io
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from toolpost import InvalidInput, Limits, ToolContext, ToolFailed, ToolOptions
from toolpost.testing import call_tool, make_context
from toolpost_tool_read import Read

READ = Read()


@pytest.fixture
def ctx(tmp_path: Path) -> ToolContext:
    return make_context(tmp_path)


async def read(ctx: ToolContext, name: str, pages: str | None = None) -> Any:
    given = {"file_path": str(ctx.cwd / name)} | ({"pages": pages} if pages else {})
    result = await call_tool(READ, given, ctx)
    return READ.to_result_block(result.data, "toolu_1")["content"]


def pdf(pages: int) -> bytes:
    """Return a document whose pages say their number."""
    kids = " ".join(f"{3 + 2 * n} 0 R" for n in range(pages))
    font = "<< /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >>"
    bodies = ["<< /Type /Catalog /Pages 2 0 R >>", f"<< /Type /Pages /Kids [{kids}] /Count {pages} >>"]
    for n in range(pages):
        text = f"BT /F1 24 Tf 72 700 Td (This is page {n + 1}.) Tj ET"
        content = f"/Resources {font} /MediaBox [0 0 612 792] /Contents {4 + 2 * n} 0 R"
        bodies += [
            f"<< /Type /Page /Parent 2 0 R {content} >>",
            f"<< /Length {len(text)} >>\nstream\n{text}\nendstream",
        ]
    written = io.BytesIO(b"%PDF-1.4\n")
    written.seek(0, 2)
    places = []
    for number, body in enumerate(bodies, 1):
        places.append(written.tell())
        written.write(f"{number} 0 obj\n{body}\nendobj\n".encode())
    start = written.tell()
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    size = len(bodies) + 1
    written.write(f"xref\n0 {size}\n0000000000 65535 f \n{table}".encode())
    written.write(f"trailer\n<< /Size {size} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n".encode())
    return written.getvalue()


async def test_a_model_that_takes_no_documents_gets_pages_and_one_that_takes_no_pictures_their_text(
    tmp_path: Path,
) -> None:
    (tmp_path / "a.pdf").write_bytes(pdf(2))

    pages = await read(make_context(tmp_path, options=ToolOptions(documents=False)), "a.pdf")
    texts = await read(make_context(tmp_path, options=ToolOptions(documents=False, images=False)), "a.pdf")

    assert [block["type"] for block in pages] == ["text", "image", "text", "image", "text"]
    assert [block["type"] for block in texts] == ["text", "text", "text"]
    assert "This is page 2." in texts[1]["text"]


async def test_a_short_pdf_is_sent_as_a_document(ctx: ToolContext) -> None:
    (ctx.cwd / "a.pdf").write_bytes(pdf(2))

    (block,) = await read(ctx, "a.pdf")

    assert block["source"]["media_type"] == "application/pdf"
    assert base64.b64decode(block["source"]["data"]) == pdf(2)


async def test_pages_come_as_text_and_pictures(ctx: ToolContext) -> None:
    (ctx.cwd / "a.pdf").write_bytes(pdf(5))

    first, picture, second, _, note = await read(ctx, "a.pdf", "2-3")

    assert first["text"] == "<page number=2>\nThis is page 2.\n</page>"
    assert "page 3" in second["text"]
    assert max(Image.open(io.BytesIO(base64.b64decode(picture["source"]["data"]))).size) == 1100
    assert note["text"] == "(Pages 2-3 of 5. Read on with pages.)"


async def test_a_range_may_reach_beyond_the_end_but_not_begin_there(ctx: ToolContext) -> None:
    (ctx.cwd / "a.pdf").write_bytes(pdf(3))

    assert (await read(ctx, "a.pdf", "3-9"))[-1]["text"] == "(Pages 3-3 of 3.)"
    assert (await read(ctx, "a.pdf", "2-"))[-1]["text"] == "(Pages 2-3 of 3.)"
    with pytest.raises(ToolFailed, match="3 pages; there is no page 4"):
        await read(ctx, "a.pdf", "4")


async def test_a_long_pdf_needs_pages_and_gives_at_most_twenty(ctx: ToolContext) -> None:
    (ctx.cwd / "a.pdf").write_bytes(pdf(25))

    with pytest.raises(ToolFailed, match=r'25 pages.*Give pages, such as "1-5"'):
        await read(ctx, "a.pdf")
    assert (await read(ctx, "a.pdf", "1-"))[-1]["text"] == "(Pages 1-20 of 25. Read on with pages.)"


async def test_a_big_pdf_of_few_pages_needs_pages_too(tmp_path: Path) -> None:
    ctx = make_context(tmp_path, limits=Limits(read_max_bytes=100))
    (ctx.cwd / "a.pdf").write_bytes(pdf(2))

    with pytest.raises(ToolFailed, match=r'too much to send whole. Give pages, such as "1-2"'):
        await read(ctx, "a.pdf")
    assert (await read(ctx, "a.pdf", "1-2"))[-1]["text"] == "(Pages 1-2 of 2.)"


@pytest.mark.parametrize("pages", ["0", "5-2", "1-21", "one", "-3", "1,2", "--help"])
async def test_a_range_that_is_none_is_refused(ctx: ToolContext, pages: str) -> None:
    (ctx.cwd / "a.pdf").write_bytes(pdf(30))

    with pytest.raises((ToolFailed, InvalidInput), match=f"pages '{pages}'"):
        await read(ctx, "a.pdf", pages)


async def test_pages_of_what_is_no_pdf_are_refused(ctx: ToolContext) -> None:
    (ctx.cwd / "a.txt").write_text("one\n")

    with pytest.raises(ToolFailed, match="is no PDF"):
        await read(ctx, "a.txt", "1")


async def test_what_only_begins_like_a_pdf_never_becomes_a_document(ctx: ToolContext) -> None:
    (ctx.cwd / "b.pdf").write_text("%PDF-1.4 says this text")
    (ctx.cwd / "c.pdf").write_bytes(b"%PDF-1.4\n1 0 obj\nendobj\nstartxref\n9\n%%EOF\n")

    assert "says this text" in await read(ctx, "b.pdf")
    assert isinstance(await read(ctx, "c.pdf"), str)
    with pytest.raises(ToolFailed, match="can't be read as a PDF"):
        await read(ctx, "c.pdf", "1")


async def test_a_name_that_looks_like_an_option_is_a_name(ctx: ToolContext) -> None:
    (ctx.cwd / "-c.pdf").write_bytes(pdf(1))

    assert (await read(ctx, "-c.pdf", "1"))[0]["text"].startswith("<page number=1>")
