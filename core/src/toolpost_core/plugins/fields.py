"""A plugin's settings: its fields, as its class declares them."""

from __future__ import annotations

import dataclasses
from typing import Any


def fields_of(plugin: type) -> list[dict[str, Any]]:
    """Return name, type, whether it must be set, and the default of each field."""
    if not dataclasses.is_dataclass(plugin):
        return []
    return [
        {
            "name": field.name,
            "type": field.type if isinstance(field.type, str) else getattr(field.type, "__name__", str(field.type)),
            "required": _default(field) is dataclasses.MISSING,
            "default": None if _default(field) is dataclasses.MISSING else _default(field),
        }
        for field in dataclasses.fields(plugin)
    ]


def config_schema(plugin: type) -> dict[str, Any] | None:
    """Return the JSON Schema of a plugin's config; None where its types have none."""
    from pydantic import PydanticUserError, TypeAdapter
    from pydantic.errors import PydanticUndefinedAnnotation

    if not dataclasses.is_dataclass(plugin):
        return None
    try:
        return TypeAdapter(plugin).json_schema()
    except (PydanticUserError, PydanticUndefinedAnnotation, NameError, TypeError):
        return None


def _default(field: dataclasses.Field[Any]) -> Any:
    return field.default if field.default_factory is dataclasses.MISSING else field.default_factory()
