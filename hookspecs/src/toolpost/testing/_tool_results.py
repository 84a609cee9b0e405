"""Whether the result of a tool is one that programs and the model's service take."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from typing import Any


def is_jsonable(data: Any) -> bool:
    """Whether data, or the fields of a dataclass, can be written as JSON."""
    try:
        json.dumps(asdict(data) if is_dataclass(data) and not isinstance(data, type) else data)
    except (TypeError, ValueError):
        return False
    return True


def problem_of(content: Any) -> str:
    """Say what is wrong with the content of a tool_result block; empty if nothing is."""
    if isinstance(content, str):
        return ""
    if not isinstance(content, list):
        return f"no text and no list of blocks: {content!r:.200}"
    return next((problem for block in content if (problem := _problem_of_block(block))), "")


def _problem_of_block(block: Any) -> str:
    if not isinstance(block, Mapping) or not isinstance(block.get("type"), str):
        return f"no block with a type: {block!r:.200}"
    if block["type"] == "text" and not (isinstance(block.get("text"), str) and block["text"]):
        return f"a text block without text: {block!r:.200}"
    if block["type"] in ("image", "document") and not _is_source(block.get("source")):
        return f"a {block['type']} without a source of base64, url, text or content: {block!r:.200}"
    return ""


def _is_source(source: Any) -> bool:
    if not isinstance(source, Mapping):
        return False
    if source.get("type") == "base64":
        return isinstance(source.get("media_type"), str) and _is_base64(source.get("data"))
    return source.get("type") in ("url", "text", "content", "file")


def _is_base64(data: Any) -> bool:
    try:
        return isinstance(data, str) and bool(base64.b64decode(data, validate=True))
    except ValueError:
        return False
