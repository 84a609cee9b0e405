"""What fills the model's window, by kinds."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

import toolpost
from toolpost_core.loop.estimate import tokens_of_tool
from toolpost_core.loop.messages import blocks_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from toolpost import ContextUsage, Message, ModelRequest
    from toolpost_core.session.inner import Inner

COUNT_LIMIT: Final = 5.0
"""Seconds after which the service's count is done without."""
SYSTEM: Final = "System prompt"
TOOLS: Final = "Tools"
MCP: Final = "MCP tools"
_OF_BLOCK: Final = {
    "tool_use": "Calls",
    "tool_result": "Results of calls",
    "image": "Pictures and documents",
    "document": "Pictures and documents",
    "thinking": "Thoughts",
    "redacted_thinking": "Thoughts",
}
_NOTHING: Final[Message] = {"role": "user", "content": "."}
"""Stands for the prompt that is still to come: no service counts a request without a message."""


async def usage(session: Inner) -> ContextUsage:
    """Say how full the window is. The service is asked where it can count."""
    await session.prompt.task()
    engine, conversation = session.engine(), session.conversation
    preparer, limits = engine.preparer, engine.preparer.thresholds()
    request = session.request(conversation.messages or (_NOTHING,), ())
    used = preparer.gauge.used(conversation.messages, conversation.used)
    exact = await _counted(session, request)
    shares = dict(_of_request(session, request))
    for name, tokens in _of_messages(conversation.messages):
        shares[name] = shares.get(name, 0) + tokens
    total = exact or used or sum(shares.values())
    return toolpost.ContextUsage(
        model=session.model.id,
        used=total,
        window=limits.window,
        effective=limits.effective,
        blocking=limits.blocking,
        auto=limits.auto if preparer.policy.auto and preparer.policy.compact else None,
        categories=_fitted(shares, total),
        counted=exact is not None,
        error=preparer.gauge.error,
    )


async def _counted(session: Inner, request: ModelRequest) -> int | None:
    try:
        async with asyncio.timeout(COUNT_LIMIT):
            return await session.model_in_use.provider.count_tokens(request)
    except (toolpost.ProviderError, TimeoutError):
        return None


def _of_request(session: Inner, request: ModelRequest) -> Iterator[tuple[str, int]]:
    """Yield the estimates of what a request has beside its messages."""
    yield SYSTEM, sum(toolpost.tokens_in_text(block.text) for block in request.system)
    found: Counter[str] = Counter()
    for spec in request.tools:
        entry = session.engine().pool.find(spec.name)
        kind = MCP if entry is not None and entry.tool.is_mcp else TOOLS
        found[kind] += tokens_of_tool(spec)
    yield from found.items()


def _of_messages(messages: Sequence[Message]) -> Iterator[tuple[str, int]]:
    for message in messages:
        for block in blocks_of(message):
            yield _kind(message["role"], block), toolpost.tokens_in([block])


def _kind(role: str, block: Mapping[str, Any]) -> str:
    if block["type"] in _OF_BLOCK:
        return _OF_BLOCK[block["type"]]
    if role == "assistant":
        return "Answers"
    return "Summaries and reminders" if toolpost.Digest.is_aside(block.get("text", "")) else "Prompts"


def _fitted(shares: Mapping[str, int], total: int) -> list[toolpost.UsageCategory]:
    """Return the categories so that they add up to the total."""
    factor = total / (sum(shares.values()) or 1)
    return [toolpost.UsageCategory(name, round(tokens * factor)) for name, tokens in shares.items() if tokens]
