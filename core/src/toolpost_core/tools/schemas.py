"""What the schema of a tool's input must be for a service to take it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def fault(schema: object) -> str:
    """Say what keeps a schema from describing an object with named properties; empty where nothing does.

    The outermost layer alone is looked at: a service that can't read it refuses the whole request, with all its tools.
    """
    if not isinstance(schema, Mapping):
        return f"it is {schema!r:.80}, and must be a mapping"
    if schema.get("type") != "object":
        said = f"is {schema['type']!r:.80}" if "type" in schema else "is missing"
        return f'its "type" {said}, and must be "object"'
    return _properties_fault(schema.get("properties", {})) or _required_fault(schema.get("required", ()))


def _properties_fault(properties: Any) -> str:
    if not isinstance(properties, Mapping):
        return f'its "properties" are {properties!r:.80}, and must be a mapping'
    for name, value in properties.items():
        if not isinstance(name, str):
            return f'its "properties" have the key {name!r:.80}, and keys must be texts'
        if not isinstance(value, Mapping | bool):
            return f"its property {name!r} is {value!r:.80}, and must be a schema"
    return ""


def _required_fault(required: Any) -> str:
    is_list = isinstance(required, list | tuple)
    if not is_list or not all(isinstance(name, str) for name in required):
        return f'its "required" is {required!r:.80}, and must be a list of names'
    return ""
