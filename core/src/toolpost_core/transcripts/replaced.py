"""What is sent in the place of something: of a result by the id of its call, of any other block by what it holds."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Iterable

    from toolpost import ContentBlock


def replacement(old: ContentBlock, new: ContentBlock) -> dict[str, Any]:
    """Return what a record has to say so that `replaced` finds it."""
    if old["type"] == "tool_result":
        result = cast("Mapping[str, Any]", new)
        return {"toolUseId": result["tool_use_id"], "replacement": result["content"]}
    return {"blockDigest": _digest(old), "replacement": new}


def by_name(lists: Iterable[Any]) -> dict[str, Any]:
    """Return the replacements of records by what they name."""
    found = (one for each in lists if isinstance(each, list) for one in each if isinstance(one, dict))
    return {name: one.get("replacement") for one in found if (name := _name(one)) is not None}


def _name(one: Mapping[str, Any]) -> str | None:
    """Return what is replaced; None where what is sent instead of a block is none."""
    match one:
        case {"toolUseId": str(call)} if call:
            return call
        case {"blockDigest": str(digest), "replacement": {"type": str()}}:
            return digest
    return None


def replaced(block: ContentBlock, replacements: Mapping[str, Any]) -> ContentBlock:
    """Return what is sent for a block."""
    if not replacements:
        return block
    if block["type"] == "tool_result":
        name = str(cast("Mapping[str, Any]", block).get("tool_use_id"))
        return {**block, "content": replacements[name]} if name in replacements else block
    return cast("ContentBlock", replacements.get(_digest(block), block))


def _digest(block: ContentBlock) -> str:
    text = json.dumps(block, sort_keys=True, separators=(",", ":"), default=str)
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()
