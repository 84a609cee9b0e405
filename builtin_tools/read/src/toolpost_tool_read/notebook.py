"""A Jupyter notebook as the model reads it: cell by cell, with ids, sources and outputs."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from .picture import looks_like_picture, parse
from .shrink import fits, shrunk

OUTPUT_CHARS = 8_000
"""Characters shown of one output; more is seldom what an edit needs."""

TEXTS = ("text/plain", "text/markdown", "text/latex", "text/html", "application/javascript")
"""Forms of a result that are text, the plainest first: one of them is shown."""
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")

PICTURE_TOKENS = 8_000
"""Tokens that one picture among the outputs may be reckoned at."""


def parse_cells(text: str, *, pictures: bool) -> list[dict[str, Any]]:
    """Return the cells, with the pictures among their outputs or without; raises ValueError for what is no notebook."""
    try:
        document = json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if not isinstance(document, dict) or not isinstance(document.get("cells"), list):
        raise ValueError("it has no list of cells")
    info = (document.get("metadata") or {}).get("language_info") or {}
    return [
        _cell(number, cell, str(info.get("name", "python")), pictures=pictures)
        for number, cell in enumerate(document["cells"])
        if isinstance(cell, dict)
    ]


def render(cells: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the blocks for the model: text, and the pictures among the outputs."""
    blocks: list[dict[str, Any]] = []
    for cell in cells:
        language = f' language="{cell["language"]}"' if cell.get("language") else ""
        _add(blocks, f'<cell id="{cell["cell_id"]}" type="{cell["cellType"]}"{language}>\n{cell["source"]}\n</cell>')
        for output in cell.get("outputs", ()):
            if output.get("text"):
                _add(blocks, f'<output cell="{cell["cell_id"]}">\n{output["text"]}\n</output>')
            if output.get("image"):
                blocks.append({"type": "image", "source": {"type": "base64", **output["image"]}})
    return blocks or [{"type": "text", "text": "(The notebook has no cells.)"}]


def _add(blocks: list[dict[str, Any]], text: str) -> None:
    if blocks and blocks[-1]["type"] == "text":
        blocks[-1]["text"] += f"\n{text}"
    else:
        blocks.append({"type": "text", "text": text})


def _cell(number: int, cell: Mapping[str, Any], language: str, *, pictures: bool) -> dict[str, Any]:
    kind = str(cell.get("cell_type", "raw"))
    shown: dict[str, Any] = {
        "cell_id": str(cell.get("id") or f"cell-{number}"),
        "cellType": kind,
        "source": _joined(cell.get("source")),
    }
    if kind == "code":
        shown["language"] = language
        shown["execution_count"] = cell.get("execution_count")
        shown["outputs"] = list(_outputs(cell, pictures=pictures))
    return shown


def _outputs(cell: Mapping[str, Any], *, pictures: bool) -> Iterator[dict[str, Any]]:
    for output in cell.get("outputs") or ():
        if not isinstance(output, dict):
            continue
        shown: dict[str, Any] = {"output_type": output.get("output_type")}
        data = output.get("data") or {}
        texts = [_text(output, data)]
        for media_type, value in data.items():
            if str(media_type).startswith("image/"):
                picture = _picture(_joined(value)) if pictures else None
                if picture is None:
                    texts.append(f"[{media_type} that can't be shown]")
                else:
                    shown["image"] = picture
        shown["text"] = "\n".join(filter(None, texts))
        yield shown


def _text(output: Mapping[str, Any], data: Mapping[str, Any]) -> str:
    """Return an output's text without colours: what was printed, an error's traceback, or a result in its plainest form."""
    if output.get("output_type") == "error":
        text = "\n".join(map(str, output.get("traceback") or [output.get("ename", "error")]))
    else:
        text = _joined(output.get("text")) or next(filter(None, (_joined(data.get(form)) for form in TEXTS)), "")
    return _clipped(_COLOUR.sub("", text))


def _picture(encoded: str) -> dict[str, str] | None:
    try:
        data = base64.b64decode(encoded)
        if not looks_like_picture(data):
            return None
        picture = parse(data)
        if not fits(picture, PICTURE_TOKENS):
            picture = shrunk(picture, PICTURE_TOKENS)
    except ValueError:
        return None
    return {"media_type": picture.media_type, "data": base64.b64encode(picture.data).decode("ascii")}


def _joined(value: object) -> str:
    if isinstance(value, list):
        return "".join(map(str, value))
    return value if isinstance(value, str) else ""


def _clipped(text: str) -> str:
    if len(text) <= OUTPUT_CHARS:
        return text
    return f"{text[:OUTPUT_CHARS]}\n[{len(text) - OUTPUT_CHARS} more characters of output are left out]"
