"""Input shapes: the JSON Schema of a tool's input and the reading of an input, from ordinary annotations.

Plain annotations (str, int, float, bool, Path, Literal, list, dict, Any, optional ones, dataclasses) are handled here,
because importing pydantic and building a model costs more than the rest of a first request; everything else is handed
to pydantic. A test holds that both read the same inputs in the same way.
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias, TypeVar, Union

from toolpost.errors import InvalidInput

T_co = TypeVar("T_co", covariant=True)
JsonSchema: TypeAlias = dict[str, Any]


class Param(NamedTuple):
    """What `Annotated[T, Param(...)]` says of a parameter; a plain string in its place is the description.

    `alias` is the name on the wire where it is no identifier. `minimum` and `maximum` bound a number.
    """

    description: str = ""
    alias: str | None = None
    minimum: float | None = None
    maximum: float | None = None


class InputShape(Protocol[T_co]):
    """A tool's input: its JSON Schema, and how to read one."""

    @property
    def schema(self) -> JsonSchema:
        """The JSON Schema that the model is given."""

    def parse(self, raw: Mapping[str, Any]) -> T_co:
        """Read an input; raises InvalidInput, which tells the model how to mend it."""


class NotPlain(Exception):
    """Raised for an annotation that is left to pydantic."""


class Field(NamedTuple):
    """One parameter: its Python name, its name on the wire, how to read it, its schema, whether it must be there."""

    name: str
    key: str
    read: Callable[[Any, str], Any]
    schema: JsonSchema
    required: bool


class PlainShape:
    """The shape of plain annotations; `build` gets the values of the parameters that were given."""

    def __init__(self, fields: Sequence[Field], build: Callable[..., Any]) -> None:
        self._fields = tuple(fields)
        self._build = build

    @property
    def schema(self) -> JsonSchema:
        """The JSON Schema that the model is given."""
        schema: JsonSchema = {"type": "object", "properties": {field.key: field.schema for field in self._fields}}
        required = [field.key for field in self._fields if field.required]
        if required:
            schema["required"] = required
        return schema | {"additionalProperties": False}

    def parse(self, raw: Mapping[str, Any], where: str = "") -> Any:
        """Read an input; every mistake is named at once."""
        values: dict[str, Any] = {}
        mistakes: list[str] = []
        for field in self._fields:
            if field.key not in raw:
                if field.required:
                    mistakes.append(f"The required parameter `{where}{field.key}` is missing.")
                continue
            try:
                values[field.name] = field.read(raw[field.key], where + field.key)
            except InvalidInput as error:
                mistakes.append(str(error))
        known = [field.key for field in self._fields]
        mistakes += [
            f"The parameter `{where}{key}` is unknown; allowed are: {', '.join(known) or 'none'}."
            for key in raw
            if key not in known
        ]
        if mistakes:
            raise InvalidInput("\n".join(mistakes))
        return self._build(**values)


def shape_of(model: type[Any]) -> InputShape[Any]:
    """Return the shape of a dataclass, or of anything else that pydantic can read."""
    try:
        return _plain_dataclass(model)
    except NotPlain:
        from toolpost._pydantic import model_shape

        return model_shape(model)


def shape_of_function(function: Callable[..., Any], *, skip: Sequence[str] = ()) -> InputShape[dict[str, Any]]:
    """Return the shape of a function's parameters but those named in `skip`; parsing gives its keyword arguments."""
    # What core hands in may be annotated with names that only a type checker imports, so it is not evaluated.
    wanted = {name: hint for name, hint in function.__annotations__.items() if name not in (*skip, "return")}
    holder = types.SimpleNamespace(__annotations__=wanted)
    hints = typing.get_type_hints(holder, globalns=function.__globals__, include_extras=True)
    parameters = [p for p in inspect.signature(function).parameters.values() if p.name not in skip]
    for parameter in parameters:
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
            raise TypeError(f"{function.__qualname__}: a tool's parameters have names: not {parameter}")
        if parameter.name not in hints:
            raise TypeError(f"{function.__qualname__}: the parameter {parameter.name!r} needs a type annotation")
    try:
        return PlainShape(
            [_field(p.name, hints[p.name], required=p.default is p.empty) for p in parameters], lambda **given: given
        )
    except NotPlain:
        from toolpost._pydantic import function_shape

        return function_shape(function.__name__, {p.name: (hints[p.name], p.default) for p in parameters})


def _plain_dataclass(model: type[Any]) -> PlainShape:
    if not dataclasses.is_dataclass(model) or hasattr(model, "__get_pydantic_core_schema__"):
        raise NotPlain
    hints = typing.get_type_hints(model, include_extras=True)
    missing = dataclasses.MISSING
    return PlainShape(
        [
            _field(f.name, hints[f.name], required=f.default is missing and f.default_factory is missing)
            for f in dataclasses.fields(model)
            if f.init
        ],
        model,
    )


def _field(name: str, hint: Any, *, required: bool) -> Field:
    param = Param()
    if typing.get_origin(hint) is typing.Annotated:
        hint, *notes = typing.get_args(hint)
        for note in notes:
            if isinstance(note, str):
                param = Param(note)
            elif isinstance(note, Param):
                param = note
            else:
                raise NotPlain
    read, schema = _reader(hint)
    if param.minimum is not None or param.maximum is not None:
        read = _bounded(read, param)
        bounds = {"minimum": param.minimum, "maximum": param.maximum}
        schema = schema | {key: bound for key, bound in bounds.items() if bound is not None}
    if param.description:
        schema = {"description": param.description} | schema
    return Field(name, param.alias or name, read, schema, required)


Reader: TypeAlias = Callable[[Any, str], Any]


def _reader(hint: Any) -> tuple[Reader, JsonSchema]:
    if hint in _SCALARS:
        return _SCALARS[hint]
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin in (Union, types.UnionType):
        return _optional(args)
    if origin is Literal:
        return _literal(args)
    if origin in (list, tuple, Sequence) and args and (origin is not tuple or args[1:] == (...,)):
        return _array(args[0], tuple if origin is tuple else list)
    if origin in (dict, Mapping) and args == (str, Any):
        return _object, {"type": "object"}
    if dataclasses.is_dataclass(hint):
        shape = _plain_dataclass(typing.cast("type[Any]", hint))
        return _nested(shape), shape.schema
    raise NotPlain


def _wrong(where: str, value: Any, wanted: str) -> InvalidInput:
    shown = json.dumps(value, ensure_ascii=False, default=str)
    shown = shown if len(shown) <= 80 else shown[:77] + "..."
    return InvalidInput(f"The parameter `{where}` must be {wanted}, not {shown}.")


def _string(value: Any, where: str) -> str:
    if not isinstance(value, str):
        raise _wrong(where, value, "a string")
    return value


def _path(value: Any, where: str) -> Path:
    return Path(_string(value, where))


def _integer(value: Any, where: str) -> int:
    # Models write numbers as strings now and then; what can only mean one thing is taken as that.
    if isinstance(value, str):
        try:
            return int(value)
        except ValueError:
            raise _wrong(where, value, "an integer") from None
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise _wrong(where, value, "an integer")
    return value


def _number(value: Any, where: str) -> float:
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            raise _wrong(where, value, "a number") from None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _wrong(where, value, "a number")
    return float(value)


def _boolean(value: Any, where: str) -> bool:
    if isinstance(value, str) and value.lower() in ("true", "false"):
        return value.lower() == "true"
    if not isinstance(value, bool):
        raise _wrong(where, value, "true or false")
    return value


def _anything(value: Any, _: str) -> Any:
    return value


def _object(value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _wrong(where, value, "an object")
    return value


_SCALARS: dict[Any, tuple[Reader, JsonSchema]] = {
    str: (_string, {"type": "string"}),
    int: (_integer, {"type": "integer"}),
    float: (_number, {"type": "number"}),
    bool: (_boolean, {"type": "boolean"}),
    Path: (_path, {"type": "string"}),
    Any: (_anything, {}),
}


def _optional(args: tuple[Any, ...]) -> tuple[Reader, JsonSchema]:
    rest = [arg for arg in args if arg is not types.NoneType]
    if len(rest) != 1 or len(rest) == len(args):
        raise NotPlain
    read, schema = _reader(rest[0])
    return (lambda value, where: None if value is None else read(value, where)), schema


def _literal(options: tuple[Any, ...]) -> tuple[Reader, JsonSchema]:
    if not all(isinstance(option, str) for option in options):
        raise NotPlain

    def read(value: Any, where: str) -> Any:
        if value not in options:
            raise _wrong(where, value, "one of " + ", ".join(json.dumps(option) for option in options))
        return value

    return read, {"type": "string", "enum": list(options)}


def _array(item: Any, make: Callable[[list[Any]], Any]) -> tuple[Reader, JsonSchema]:
    read_item, schema = _reader(item)

    def read(value: Any, where: str) -> Any:
        if isinstance(value, str):
            value = _parsed(value)
        if not isinstance(value, list):
            raise _wrong(where, value, "an array")
        return make([read_item(element, f"{where}[{index}]") for index, element in enumerate(value)])

    return read, {"type": "array", "items": schema}


def _nested(shape: PlainShape) -> Reader:
    def read(value: Any, where: str) -> Any:
        return shape.parse(_object(value, where), where + ".")

    return read


def _bounded(read: Reader, param: Param) -> Reader:
    def bounded(value: Any, where: str) -> Any:
        number = read(value, where)
        if number is None:
            return None
        if param.minimum is not None and number < param.minimum:
            raise _wrong(where, value, f"at least {param.minimum:g}")
        if param.maximum is not None and number > param.maximum:
            raise _wrong(where, value, f"at most {param.maximum:g}")
        return number

    return bounded


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
