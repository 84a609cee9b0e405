"""How many tokens the parts of a request have, as far as that can be told before it is sent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolpost.tokens import tokens_in_json, tokens_in_text, tokens_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolpost import Message, ModelRequest, ToolSpec


def new_tokens(request: ModelRequest, known: int) -> int:
    """Estimate what a request adds to the `known` tokens of the last one and its answer; all of it where that is 0."""
    if known:
        return tokens_of(since_answer(request.messages))
    return overhead_of(request) + tokens_of(request.messages)


def since_answer(messages: Sequence[Message]) -> Sequence[Message]:
    """Return what came after the model's last answer: results of its calls, and what the person wrote."""
    for index in range(len(messages) - 1, -1, -1):
        if messages[index]["role"] == "assistant":
            return messages[index + 1 :]
    return messages


def overhead_of(request: ModelRequest) -> int:
    """Estimate what a request has beside its messages."""
    return sum(tokens_in_text(block.text) for block in request.system) + sum(map(tokens_of_tool, request.tools))


def tokens_of_tool(tool: ToolSpec) -> int:
    """Estimate what a tool adds to each request."""
    return tokens_in_text(tool.name) + tokens_in_text(tool.description) + tokens_in_json(tool.input_schema)
