"""The hook's `input`, filled with what the event has."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

_PLACE: Final = re.compile(r"\$\{([\w.-]+)\}")


def filled(template: Any, payload: Mapping[str, Any]) -> Any:
    """Return the input with the event's values in it, such as that of `${tool_input.file_path}`.

    A text that is one such place becomes the value itself, whatever it is; in a longer text the value stands as text. What
    the event does not have is empty.
    """
    if isinstance(template, Mapping):
        return {key: filled(value, payload) for key, value in template.items()}
    if isinstance(template, list):
        return [filled(value, payload) for value in template]
    if not isinstance(template, str):
        return template
    whole = _PLACE.fullmatch(template)
    if whole is not None:
        return _at(whole[1], payload)
    return _PLACE.sub(lambda place: _text(_at(place[1], payload)), template)


def _at(path: str, payload: Mapping[str, Any]) -> Any:
    value: Any = payload
    for name in path.split("."):
        if isinstance(value, Mapping) and name in value:
            value = value[name]
        elif isinstance(value, list) and name.isdecimal() and int(name) < len(value):
            value = value[int(name)]
        else:
            return ""
    return value


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
