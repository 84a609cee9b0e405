from __future__ import annotations

import base64
import io
import json
import random
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from toolpost import Limits, ToolContext, ToolFailed, ToolOptions
from toolpost.testing import call_tool, make_context
from toolpost_tool_read import Read

READ = Read()


@pytest.fixture
def ctx(tmp_path: Path) -> ToolContext:
    return make_context(tmp_path)


async def read(ctx: ToolContext, name: str) -> tuple[Any, list[Any]]:
    """Return the data and the blocks of a Read."""
    result = await call_tool(READ, {"file_path": str(ctx.cwd / name)}, ctx)
    blocks: Any = READ.to_result_block(result.data, "toolu_1")["content"]
    return result.data, blocks


def noise(width: int, height: int, mode: str = "RGB") -> Image.Image:
    """Return a picture that compresses badly."""
    return Image.frombytes(mode, (width, height), random.Random(1).randbytes(width * height * len(mode)))


def encoded(image: Image.Image, form: str, **options: Any) -> bytes:
    written = io.BytesIO()
    image.save(written, form, **options)
    return written.getvalue()


def decoded(block: Any) -> Image.Image:
    return Image.open(io.BytesIO(base64.b64decode(block["source"]["data"])))


@pytest.mark.parametrize("form", ["PNG", "JPEG", "GIF", "WEBP"])
async def test_a_big_picture_is_made_smaller_and_the_model_is_told_by_how_much(ctx: ToolContext, form: str) -> None:
    (ctx.cwd / "p").write_bytes(encoded(Image.new("RGB", (3136, 1000), "navy"), form))

    data, (block, text) = await read(ctx, "p")

    assert decoded(block).size == (1568, 500)
    assert "3136x1000: multiply places by 2.00" in text["text"]
    assert data["file"]["dimensions"] == {
        "originalWidth": 3136,
        "originalHeight": 1000,
        "displayWidth": 1568,
        "displayHeight": 500,
    }


@pytest.mark.parametrize("form", ["PNG", "JPEG", "WEBP"])
async def test_a_picture_of_too_many_bytes_is_encoded_anew_within_the_token_budget(tmp_path: Path, form: str) -> None:
    ctx = make_context(tmp_path, limits=Limits(read_max_tokens=10_000))
    (ctx.cwd / "p").write_bytes(encoded(noise(1200, 900), form))

    _, (block, *_) = await read(ctx, "p")

    assert len(block["source"]["data"]) <= 80_000
    assert block["source"]["media_type"] == "image/jpeg"
    decoded(block).load()


async def test_the_last_resort_is_a_small_jpeg(tmp_path: Path) -> None:
    ctx = make_context(tmp_path, limits=Limits(read_max_tokens=10))
    (ctx.cwd / "p").write_bytes(encoded(noise(1200, 900), "PNG"))

    _, (block, _) = await read(ctx, "p")

    assert decoded(block).size == (400, 300)
    assert len(block["source"]["data"]) < 30_000


async def test_a_picture_that_fits_is_sent_as_its_own_bytes(ctx: ToolContext) -> None:
    data = encoded(Image.new("RGB", (1568, 20)), "GIF")
    (ctx.cwd / "p").write_bytes(data)

    _, (block,) = await read(ctx, "p")

    assert base64.b64decode(block["source"]["data"]) == data


async def test_transparent_parts_become_white(tmp_path: Path) -> None:
    ctx = make_context(tmp_path, limits=Limits(read_max_tokens=1_000))
    image = noise(600, 400, "RGBA")
    image.paste((0, 0, 0, 0), (0, 0, 100, 100))
    (ctx.cwd / "p").write_bytes(encoded(image, "PNG"))

    _, (block, *_) = await read(ctx, "p")

    assert min(decoded(block).convert("RGB").getpixel((3, 3))) > 230  # type: ignore[arg-type]


async def test_a_photo_is_turned_as_its_camera_says(ctx: ToolContext) -> None:
    turned = Image.Exif()
    turned[0x0112] = 6
    (ctx.cwd / "p").write_bytes(encoded(Image.new("RGB", (2000, 1000)), "JPEG", exif=turned))

    _, (block, _) = await read(ctx, "p")

    assert decoded(block).size == (784, 1568)


async def test_pictures_in_notebooks_are_made_smaller_too(ctx: ToolContext) -> None:
    data = {"image/png": base64.b64encode(encoded(Image.new("RGB", (4000, 400)), "PNG")).decode()}
    output = {"output_type": "display_data", "data": data}
    cell = {"cell_type": "code", "source": "plot()", "outputs": [output]}
    (ctx.cwd / "n.ipynb").write_text(json.dumps({"cells": [cell], "metadata": {}}))

    _, (_, block) = await read(ctx, "n.ipynb")

    assert max(decoded(block).size) <= 1568


async def test_a_model_that_takes_no_pictures_is_told_so_and_gets_the_text_beside_them(tmp_path: Path) -> None:
    ctx = make_context(tmp_path, options=ToolOptions(images=False))
    picture = encoded(Image.new("RGB", (8, 8), "navy"), "PNG")
    (ctx.cwd / "p.png").write_bytes(picture)
    data = {"image/png": base64.b64encode(picture).decode(), "text/plain": "<Figure>"}
    cell = {"cell_type": "code", "source": "plot()", "outputs": [{"output_type": "display_data", "data": data}]}
    (ctx.cwd / "n.ipynb").write_text(json.dumps({"cells": [cell], "nbformat": 4, "nbformat_minor": 4}))

    with pytest.raises(ToolFailed, match="the model in use takes none"):
        await read(ctx, "p.png")
    _, (block,) = await read(ctx, "n.ipynb")
    assert "<Figure>\n[image/png that can't be shown]" in block["text"]
