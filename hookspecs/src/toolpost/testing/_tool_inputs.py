"""Inputs that a tool must refuse, or answer without a crash."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

_WRONG: Mapping[str, Any] = {
    "string": {"not": "a string"},
    "integer": "not an integer",
    "number": "not a number",
    "boolean": "not a boolean",
    "array": 17,
    "object": 17,
}


def mistakes(schema: Mapping[str, Any], example: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each parameter with the example gone wrong there: missing, of another type, unknown."""
    for key in schema.get("required", ()):
        yield key, {name: value for name, value in example.items() if name != key}
    for key, inner in schema.get("properties", {}).items():
        if isinstance(inner.get("type"), str):
            yield key, {**example, key: _WRONG[inner["type"]]}
    if schema.get("additionalProperties") is False:
        yield "no_such_parameter", {**example, "no_such_parameter": 1}


def nonsense(schema: Mapping[str, Any], example: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the example with each parameter of text replaced by one that nobody would mean."""
    for key, inner in schema.get("properties", {}).items():
        if inner.get("type") == "string" and "enum" not in inner:
            yield from ({**example, key: text} for text in ("", "\0", "\ud800", "[(*\\", "x/" * 3000))
