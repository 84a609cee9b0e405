"""Whether a tool's input schema is one that the model's service takes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from typing import Any

_KEY = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
_TYPES = {"object", "array", "string", "integer", "number", "boolean", "null"}


def problems(schema: Mapping[str, Any]) -> list[str]:
    """Return what is wrong with the schema of an input; by jsonschema too where that is installed."""
    found = list(_walk(schema, "the schema"))
    if schema.get("type") != "object":
        found.insert(0, "the schema's type must be object: an input has named parameters")
    names = schema.get("properties", {})
    found += [f"the parameter name {key!r} is not legal" for key in names if not _KEY.fullmatch(key)]
    if find_spec("jsonschema") is not None:
        found += _by_jsonschema(schema)
    return found


def _walk(schema: Any, where: str) -> Iterator[str]:
    if isinstance(schema, bool):
        return
    if not isinstance(schema, Mapping):
        yield f"{where} must be an object, not {schema!r}"
        return
    kinds = schema.get("type", [])
    for kind in [kinds] if isinstance(kinds, str) else kinds:
        if kind not in _TYPES:
            yield f"{where} has the unknown type {kind!r}"
    properties = schema.get("properties", {})
    for key in schema.get("required", ()):
        if key not in properties:
            yield f"{where} requires {key!r}, which it does not describe"
    for key, inner in properties.items():
        yield from _walk(inner, f"{where}, property {key!r}")
    for key in ("items", "additionalProperties", "not"):
        if key in schema:
            yield from _walk(schema[key], f"{where}, {key}")
    for key in ("anyOf", "oneOf", "allOf", "prefixItems"):
        for inner in schema.get(key, ()):
            yield from _walk(inner, f"{where}, {key}")


def _by_jsonschema(schema: Mapping[str, Any]) -> list[str]:
    import jsonschema  # type: ignore[import-untyped,unused-ignore]

    try:
        jsonschema.Draft202012Validator.check_schema(dict(schema))
    except jsonschema.SchemaError as error:
        return [f"jsonschema refuses the schema: {error.message}"]
    return []
