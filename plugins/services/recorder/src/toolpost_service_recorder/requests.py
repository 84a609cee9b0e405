"""Requests as JSON, and as text that can be compared line by line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from .values import encoded, plain

if TYPE_CHECKING:
    from toolpost import ModelRequest

LONG: Final = ("system", "tools", "messages")
"""What is kept once, and later only as far as it changed."""
_ASIDE: Final = frozenset({*LONG, "env", "stash"})


def as_json(request: ModelRequest) -> dict[str, Any]:
    """Return what a request asks for."""
    return {**without_messages(request), "messages": plain(list(request.messages))}


def without_messages(request: ModelRequest) -> dict[str, Any]:
    """Return what a request asks for beside its messages."""
    few = {name: plain(encoded(value)) for name, value in vars(request).items() if name not in _ASIDE}
    return {
        **few,
        "system": [[block.text, block.cache] for block in request.system],
        "tools": [plain(vars(tool)) for tool in request.tools],
    }


def shortened(request: Mapping[str, Any], last: Mapping[str, Any]) -> dict[str, Any]:
    """Return a request without what it has in common with the last one."""
    few = {name: value for name, value in request.items() if name not in LONG}
    for name in ("system", "tools"):
        if request[name] != last.get(name):
            few[name] = request[name]
    same = _same(request["messages"], last.get("messages", ()))
    return {**few, "same": same, "messages": request["messages"][same:]}


def lengthened(short: Mapping[str, Any], last: Mapping[str, Any]) -> dict[str, Any]:
    """Return the request that was shortened."""
    whole = {name: value for name, value in short.items() if name not in (*LONG, "same")}
    for name in ("system", "tools"):
        whole[name] = short.get(name, last.get(name, []))
    return {**whole, "messages": [*last.get("messages", [])[: short.get("same", 0)], *short["messages"]]}


def parts(request: Mapping[str, Any]) -> dict[str, str]:
    """Return a request as named texts, in the order in which it is sent."""
    named = {"options": _json({name: value for name, value in sorted(request.items()) if name not in LONG})}
    for number, (text, cache) in enumerate(request["system"], 1):
        named[f"system prompt, block {number}"] = f"{text}\n(cache: {cache})"
    for tool in request["tools"]:
        named[f"description of the tool {tool['name']}"] = tool["description"]
        named[f"input schema of the tool {tool['name']}"] = _json(tool["input_schema"])
    named["list of tools"] = "\n".join(f"{tool['name']} (cache: {tool['cache']})" for tool in request["tools"])
    for number, message in enumerate(request["messages"], 1):
        named[f"message {number} ({message['role']})"] = "\n".join(_told(message["content"]))
    return named


def _told(content: Any) -> Iterator[str]:
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    for block in content:
        if block.get("type") == "text" and block.keys() == {"type", "text"}:
            yield block["text"]
        else:
            yield _json(block)


def _same(messages: Sequence[Any], before: Sequence[Any]) -> int:
    same = 0
    for one, other in zip(messages, before, strict=False):
        if one is not other and one != other:
            break
        same += 1
    return same


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2, sort_keys=True)
