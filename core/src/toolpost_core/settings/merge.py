"""Documents become one: scalars from the highest level, objects per key, lists one after another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from toolpost_core.settings.document import Document

WHOLE: Final = frozenset({"fallbackModel", "availableModels"})
"""Keys whose value is taken whole from the highest level that has it."""


def merged(documents: Sequence[Document]) -> dict[str, Any]:
    """Merge documents, highest first. Lists begin with the lowest level's items; a repeated text stands once."""
    result: dict[str, Any] = {}
    for document in reversed(documents):
        _merge_into(result, document.values, top=True)
    return result


def _merge_into(result: dict[str, Any], values: Mapping[str, Any], *, top: bool = False) -> None:
    for key, value in values.items():
        ours = result.get(key)
        if isinstance(value, dict):
            if not isinstance(ours, dict):
                ours = result[key] = {}
            _merge_into(ours, value)
        elif isinstance(value, list):
            before = ours if isinstance(ours, list) and not (top and key in WHOLE) else []
            result[key] = [*before, *(item for item in value if not isinstance(item, str) or item not in before)]
        else:
            result[key] = value


def lookup(values: Mapping[str, Any], key: str) -> Any:
    """Return the value at a dotted key. Raises KeyError."""
    found: Any = values
    for part in key.split("."):
        if not isinstance(found, Mapping):
            raise KeyError(key)
        found = found[part]
    return found
