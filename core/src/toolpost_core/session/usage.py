"""What a request used, as the wire names it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolpost import Usage


def json_usage(usage: Usage) -> dict[str, Any]:
    """Return a usage as the wire has it; what is seldom there is left out where it is nothing."""
    wire: dict[str, Any] = {
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cache_creation_input_tokens": usage.cache_creation_input_tokens,
        "cache_read_input_tokens": usage.cache_read_input_tokens,
    }
    if usage.cache_creation_1h_input_tokens:
        wire["cache_creation"] = {"ephemeral_1h_input_tokens": usage.cache_creation_1h_input_tokens}
    if usage.web_search_requests:
        wire["server_tool_use"] = {"web_search_requests": usage.web_search_requests}
    return wire


def usage_in(wire: Mapping[str, Any]) -> Usage:
    """Read a usage; what is missing or damaged counts as nothing."""
    found = {name: wire.get(name) for name in Usage._fields}
    found["cache_creation_1h_input_tokens"] = _within(wire, "cache_creation", "ephemeral_1h_input_tokens")
    found["web_search_requests"] = _within(wire, "server_tool_use", "web_search_requests")
    return Usage(**{name: count for name, count in found.items() if isinstance(count, int)})


def _within(wire: Mapping[str, Any], outer: str, inner: str) -> object:
    object_ = wire.get(outer)
    return object_.get(inner) if isinstance(object_, Mapping) else None
