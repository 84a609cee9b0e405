"""Values of the API as JSON, and back: `{"$": "Name", ...}` for what is a class, lists and objects as they are."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import date
from pathlib import Path, PurePath
from typing import Any, Final

import toolpost
from toolpost import ProviderError

MARK: Final = "$"
_NOT_KEPT: Final = frozenset({"origin", "stash", "env"})
"""Fields that belong to the session that runs."""


def encoded(value: Any) -> Any:
    """Return a value as JSON; what is of no class of the API and no JSON becomes its text."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, PurePath):
        return {MARK: "Path", "path": str(value)}
    if isinstance(value, date):
        return {MARK: "date", "date": value.isoformat()}
    if is_dataclass(value) and not isinstance(value, type):
        names = (field.name for field in fields(value) if field.init and field.name not in _NOT_KEPT)
        return {MARK: type(value).__name__, **{name: encoded(getattr(value, name)) for name in names}}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {MARK: type(value).__name__, **{name: encoded(one) for name, one in value._asdict().items()}}
    if isinstance(value, Mapping):
        plain = {str(key): encoded(one) for key, one in value.items()}
        return {MARK: "object", "value": plain} if MARK in plain else plain
    if isinstance(value, tuple):
        return {MARK: "tuple", "items": [encoded(one) for one in value]}
    if isinstance(value, Sequence | set | frozenset):
        return [encoded(one) for one in value]
    return str(value)


def decoded(value: Any) -> Any:
    """Return the value that was encoded; a class that the API has no more stays as JSON."""
    if isinstance(value, list):
        return [decoded(one) for one in value]
    if not isinstance(value, dict):
        return value
    if MARK not in value:
        return {key: decoded(one) for key, one in value.items()}
    name, rest = value[MARK], {key: one for key, one in value.items() if key != MARK}
    if name == "Path":
        return Path(rest["path"])
    if name == "date":
        return date.fromisoformat(rest["date"])
    if name == "tuple":
        return tuple(decoded(one) for one in rest["items"])
    if name == "object":
        return {key: decoded(one) for key, one in rest["value"].items()}
    made = getattr(toolpost, str(name), None)
    return made(**{key: decoded(one) for key, one in rest.items()}) if made is not None else rest


def plain(value: Any) -> Any:
    """Return a value as it looks in JSON: what a front end prints of it."""
    try:
        return json.loads(json.dumps(value, default=str))
    except (TypeError, ValueError):
        return encoded(value)


def encoded_error(error: Exception) -> dict[str, Any]:
    """Return why an answer broke off."""
    if not isinstance(error, ProviderError):
        return {"class": "", "text": f"The provider failed: {type(error).__name__}: {error}"}
    return {"class": type(error).__name__, "text": str(error), "fields": encoded(vars(error))}


def decoded_error(value: Mapping[str, Any]) -> ProviderError:
    """Return the error that was encoded."""
    made = getattr(toolpost, value["class"], ProviderError) if value["class"] else ProviderError
    error: ProviderError = made(value["text"])
    vars(error).update(decoded(value.get("fields", {})))
    return error
