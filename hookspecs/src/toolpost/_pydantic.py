"""Input shapes by pydantic, for annotations that `_schema` leaves to it."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from pydantic import ConfigDict, TypeAdapter, ValidationError, create_model

from toolpost._schema import InputShape, JsonSchema
from toolpost.errors import InvalidInput


def model_shape(model: type[Any]) -> InputShape[Any]:
    """Return the shape of anything that pydantic can read."""
    return _AdapterShape(TypeAdapter(model))


def function_shape(name: str, parameters: Mapping[str, tuple[Any, Any]]) -> InputShape[dict[str, Any]]:
    """Return the shape of a function's parameters, each given as annotation and default (`inspect`'s empty for none)."""
    fields: dict[str, Any] = {
        key: (hint, ... if default is inspect.Parameter.empty else default)
        for key, (hint, default) in parameters.items()
    }
    return _ArgumentsShape(TypeAdapter(create_model(name, __config__=ConfigDict(extra="forbid"), **fields)))


class _AdapterShape:
    def __init__(self, adapter: TypeAdapter[Any]) -> None:
        self._adapter = adapter

    @property
    def schema(self) -> JsonSchema:
        return self._adapter.json_schema()

    def parse(self, raw: Mapping[str, Any]) -> Any:
        try:
            return self._adapter.validate_python(dict(raw))
        except ValidationError as error:
            raise InvalidInput("\n".join(_mistake(dict(found)) for found in error.errors())) from error


class _ArgumentsShape(_AdapterShape):
    def parse(self, raw: Mapping[str, Any]) -> Any:
        model = super().parse(raw)
        return {name: getattr(model, name) for name in model.model_fields_set}


def _mistake(found: Mapping[str, Any]) -> str:
    where = ".".join(str(part) for part in found["loc"])
    return f"The parameter `{where}`: {found['msg']} (it was {found['input']!r:.80})."
