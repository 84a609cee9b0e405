"""A content block from its start to its end."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

from toolpost import Block, InputDelta, StreamEvent, TextDelta, ThinkingDelta, ToolUse, ToolUseStart


class OpenBlock:
    """A block that is not complete yet."""

    def __init__(self, block: Mapping[str, Any]) -> None:
        self._block = dict(block)
        self._kind = str(block["type"])
        self._texts: dict[str, list[str]] = {}
        self._input: list[str] = []

    def begin(self) -> Iterator[StreamEvent]:
        """Yield what the start of the block shows already."""
        if self._kind == "tool_use":
            yield ToolUseStart(self._block["id"], self._block["name"])
        elif self._kind == "text" and self._block.get("text"):
            yield TextDelta(self._block["text"])
        elif self._kind == "thinking" and self._block.get("thinking"):
            yield ThinkingDelta(self._block["thinking"])

    def add(self, delta: Mapping[str, Any]) -> Iterator[StreamEvent]:
        """Take a delta; kinds that are not known are passed over."""
        match delta["type"]:
            case "text_delta":
                if text := self._append("text", delta["text"]):
                    yield TextDelta(text)
            case "input_json_delta":
                self._input.append(delta["partial_json"])
                if self._kind == "tool_use" and delta["partial_json"]:
                    yield InputDelta(delta["partial_json"])
            case "thinking_delta":
                if text := self._append("thinking", delta["thinking"]):
                    yield ThinkingDelta(text)
            case "signature_delta":
                self._append("signature", delta["signature"])
            case "citations_delta":
                self._block["citations"] = [*(self._block.get("citations") or ()), delta["citation"]]

    def end(self) -> Iterator[StreamEvent]:
        """Yield the block whole; what its deltas were appended to is joined."""
        for name, parts in self._texts.items():
            self._block[name] = (self._block.get(name) or "") + "".join(parts)
        text = "".join(self._input)
        if self._kind == "tool_use":
            value = _object(text) if text else self._block.get("input") or {}
            id, name = self._block["id"], self._block["name"]
            yield ToolUse(id, name, value) if isinstance(value, dict) else ToolUse(id, name, {}, raw=text or str(value))
            return
        if text:
            value = _object(text)
            self._block["input"] = value if value is not None else text
        if self._block.get("citations", ()) is None:
            del self._block["citations"]
        yield Block(self._block)

    def _append(self, name: str, text: str) -> str:
        self._texts.setdefault(name, []).append(text)
        return text


def _object(text: str) -> dict[str, Any] | None:
    """Return the JSON object, or None where the text is something else."""
    try:
        value = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
