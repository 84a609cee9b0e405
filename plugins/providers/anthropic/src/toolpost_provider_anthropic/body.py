"""The body of a request: every message's JSON is made once a session and joined."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from toolpost import Message, ModelRequest, ProviderError, StashKey, SystemBlock, ToolSpec

from . import thinking

if TYPE_CHECKING:
    from .models import Model

MARK: Final = {"type": "ephemeral"}
MOST_MARKS: Final = 4
"""Cache breakpoints that the service takes in a request."""
OUTPUT_CAP: Final = 32_000
"""Tokens of an answer where the request names no limit."""
WHOLE_CAP: Final = 21_000
"""Tokens of an answer in one piece: what is written in the ten minutes for which a connection may be silent."""
_UNMARKABLE: Final = ("thinking", "redacted_thinking")


class Encoder:
    """What a session has encoded so far. Messages are kept by identity, alive, so that no other takes their place."""

    def __init__(self) -> None:
        self._messages: dict[int, tuple[Message, bytes]] = {}
        self._system: tuple[Sequence[SystemBlock], bytes] = ((), b"")
        self._tools: tuple[Sequence[ToolSpec], bytes] = ((), b"")

    def body(self, request: ModelRequest, model: Model) -> bytes:
        """Return the body of a request for an answer."""
        limit = max_tokens(request, model)
        return self._join(request, model, {"max_tokens": limit, "stream": request.streaming})

    def body_to_count(self, request: ModelRequest, model: Model) -> bytes:
        """Return the body of a request that counts the prompt's tokens."""
        return self._join(request, model, {})

    def _join(self, request: ModelRequest, model: Model, head: dict[str, Any]) -> bytes:
        try:
            options = _options(request, model, counting=not head)
            parts = [_encode({"model": model.wire_id, **head, **options})[:-1]]
            if request.tools:
                parts += b',"tools":', self._tools_of(request.tools)
            if request.system:
                parts += b',"system":', self._system_of(request.system)
            parts += b',"messages":[', b",".join(self._messages_of(request)), b"]}"
        except (TypeError, ValueError, RecursionError) as error:
            raise ProviderError(
                f"The request can't be written as JSON: {error}. A plugin put a value into it that JSON does not have.",
                kind="invalid_request",
            ) from error
        return b"".join(parts)

    def _messages_of(self, request: ModelRequest) -> list[bytes]:
        known, messages = self._messages, request.messages
        if len(known) > 2 * len(messages) + 64:
            alive = {id(message) for message in messages}
            known = self._messages = {key: value for key, value in known.items() if key in alive}
        encoded = []
        for message in messages:
            entry = known.get(id(message))
            if entry is None:
                entry = known[id(message)] = (message, _encode(message))
            encoded.append(entry[1])
        for index in _breakpoints(request):
            encoded[index] = _encode(_marked(messages[index]))
        return encoded

    def _system_of(self, system: Sequence[SystemBlock]) -> bytes:
        if self._system[0] is not system:
            blocks = [
                {"type": "text", "text": block.text} | ({"cache_control": MARK} if block.cache else {})
                for block in system
                if block.text
            ]
            self._system = (system, _encode(blocks))
        return self._system[1]

    def _tools_of(self, tools: Sequence[ToolSpec]) -> bytes:
        if self._tools[0] is not tools:
            specs = [
                {"name": tool.name, "description": tool.description, "input_schema": dict(tool.input_schema)}
                | ({"cache_control": MARK} if tool.cache else {})
                for tool in tools
            ]
            self._tools = (tools, _encode(specs))
        return self._tools[1]


ENCODER: Final = StashKey[Encoder]("anthropic.encoder")


def encoder(request: ModelRequest) -> Encoder:
    """Return the session's encoder."""
    return request.stash.setdefault(ENCODER, Encoder())


def max_tokens(request: ModelRequest, model: Model) -> int:
    """Return the limit of an answer, of which a thinking budget is a part: it must leave room for the rest."""
    limit, budget = request.max_tokens, thinking.budget(request, model)
    if limit is None or limit <= budget:
        limit = min(model.info.max_output, (limit or OUTPUT_CAP) + budget)
    return limit if request.streaming else min(limit, WHOLE_CAP)


def _options(request: ModelRequest, model: Model, *, counting: bool) -> dict[str, Any]:
    """Return what goes along only where it was asked for."""
    options = thinking.options(request, model)
    if request.tool_choice is not None:
        options["tool_choice"] = dict(request.tool_choice)
    if counting:
        return options
    if request.stop_sequences:
        options["stop_sequences"] = list(request.stop_sequences)
    # The service refuses every other key.
    if "user_id" in request.metadata:
        options["metadata"] = {"user_id": request.metadata["user_id"]}
    return options


def _breakpoints(request: ModelRequest) -> list[int]:
    """Return the messages to mark, the last ones where there are more than the service takes."""
    taken = sum(block.cache for block in request.system if block.text) + sum(tool.cache for tool in request.tools)
    wanted = sorted({index for index in request.cache_breakpoints if 0 <= index < len(request.messages)})
    return wanted[-max(0, MOST_MARKS - taken) :] if taken < MOST_MARKS else []


def _marked(message: Message) -> Mapping[str, Any]:
    """Return a copy whose last block that may carry it has the mark; the message itself where none may."""
    content = message["content"]
    blocks: list[Any] = [{"type": "text", "text": content}] if isinstance(content, str) else list(content)
    for index in range(len(blocks) - 1, -1, -1):
        block = blocks[index]
        if block["type"] in _UNMARKABLE or (block["type"] == "text" and not block["text"]):
            continue
        blocks[index] = {**block, "cache_control": MARK}
        return {**message, "content": blocks}
    return message


def _encode(value: Any) -> bytes:
    # Half of a surrogate pair, which a cut text can end with, has no UTF-8.
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode("utf-8", "replace")
