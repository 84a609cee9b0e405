"""The rules that the real service holds a request to."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

TOP_LEVEL = {
    "model", "messages", "system", "tools", "tool_choice", "max_tokens", "stream", "temperature", "top_p", "top_k",
    "stop_sequences", "metadata", "thinking", "service_tier", "container", "mcp_servers", "context_management",
    "output_config", "betas", "output_format",
}  # fmt: skip
TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
CALL_ID = re.compile(r"[a-zA-Z0-9_-]+")
MARKS = 4


def violations(body: Mapping[str, Any], *, counting: bool = False) -> list[str]:
    """Return every rule that a request breaks."""
    try:
        return _violations(body, counting)
    except (AttributeError, IndexError, KeyError, TypeError) as error:
        return [f"the request is malformed: {error!r}"]


def _violations(body: Mapping[str, Any], counting: bool) -> list[str]:
    found = [f"unknown field {key!r}" for key in body if key not in TOP_LEVEL]
    if not counting and not isinstance(body.get("max_tokens"), int):
        found.append("max_tokens: field required")
    if not body.get("model"):
        found.append("model: field required")
    found += _surrogates(body)
    found += _tools(body.get("tools") or [])
    found += _messages(body.get("messages") or [])
    marks = len(list(_marks(body)))
    if marks > MARKS:
        found.append(f"{marks} blocks have cache_control; {MARKS} are allowed")
    return found


def _messages(messages: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    if not messages:
        yield "messages: at least one message is required"
        return
    if messages[0]["role"] != "user":
        yield "messages.0: the first message must be the user's"
    seen: set[str] = set()
    open_calls: list[str] = []
    for number, message in enumerate(messages):
        if number and messages[number - 1]["role"] == message["role"]:
            yield f"messages.{number}: roles must alternate"
        content = _content(message)
        if not content:
            yield f"messages.{number}: content is empty"
        yield from _blocks(number, content)
        results = [block["tool_use_id"] for block in content if block["type"] == "tool_result"]
        if sorted(results) != sorted(open_calls):
            yield f"messages.{number}: calls {open_calls} need exactly one tool_result each, there are {results}"
        open_calls = [block["id"] for block in content if block["type"] == "tool_use"]
        for call in open_calls:
            if call in seen:
                yield f"messages.{number}: tool_use id {call} is not unique"
            seen.add(call)
    if open_calls:
        yield f"messages.{len(messages) - 1}: calls {open_calls} have no tool_result"
    last = _content(messages[-1])
    if messages[-1]["role"] == "assistant" and last and last[-1]["type"] in ("thinking", "redacted_thinking"):
        yield "the last message must not end in thinking"


def _blocks(number: int, content: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    after_other = False
    for index, block in enumerate(content):
        where = f"messages.{number}.content.{index}"
        kind = block["type"]
        if kind == "text" and not block["text"].strip():
            yield f"{where}: text content blocks must be non-empty"
        if kind == "tool_use":
            yield from _call(where, block)
        if kind == "tool_result":
            if after_other:
                yield f"{where}: tool_result blocks must come first"
            inner = block.get("content", "")
            if isinstance(inner, list):
                yield from _blocks(number, inner)
        elif kind in ("image", "document"):
            yield from _media(where, block)
        after_other = after_other or kind != "tool_result"


def _call(where: str, block: Mapping[str, Any]) -> Iterator[str]:
    if not isinstance(block["input"], dict):
        yield f"{where}: tool_use.input must be an object"
    if not TOOL_NAME.fullmatch(block["name"]):
        yield f"{where}.tool_use.name: the name {block['name']!r} is not allowed"
    if not CALL_ID.fullmatch(block["id"]):
        yield f"{where}.tool_use.id: the id {block['id']!r} is not allowed"


def _media(where: str, block: Mapping[str, Any]) -> Iterator[str]:
    source = block["source"]
    if source["type"] != "base64":
        return
    try:
        data = base64.b64decode(source["data"], validate=True)
    except ValueError:
        yield f"{where}: source.data is not base64"
        return
    heads = {"image/png": b"\x89PNG", "image/jpeg": b"\xff\xd8", "image/gif": b"GIF8", "image/webp": b"RIFF"}
    head = heads.get(source["media_type"], b"%PDF" if source["media_type"] == "application/pdf" else None)
    if head is None or not data.startswith(head):
        yield f"{where}: the data is not {source['media_type']}"


def _tools(tools: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    names = [tool.get("name", "") for tool in tools]
    for name in names:
        if not TOOL_NAME.fullmatch(name):
            yield f"tools: the name {name!r} is not allowed"
    if len(set(names)) != len(names):
        yield "tools: names must be unique"
    for tool in tools:
        if tool.get("type", "custom") != "custom":
            continue  # the service's own tools have no schema
        schema = tool.get("input_schema", {})
        if schema.get("type") != "object" or {"anyOf", "oneOf", "allOf"} & set(schema):
            yield f"tools.{tool.get('name')}: input_schema must be an object without anyOf, oneOf, allOf at the top"


def _surrogates(value: Any) -> list[str]:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return ["the body has lone surrogates"]
    return []


def _marks(body: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    system = body.get("system")
    holders: list[Any] = [*(body.get("tools") or []), *(system if isinstance(system, list) else [])]
    for message in body.get("messages") or []:
        holders += _content(message)
    yield from (holder for holder in holders if "cache_control" in holder)


def _content(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    content = message.get("content")
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content or [])
