"""What an answer may take from the conversation: placeholders and conditions."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from toolpost import ModelRequest

_PLACEHOLDER: Final = re.compile(r"\{\{((?:cwd|last_result|result)(?![A-Za-z_]).*?)\}\}(?!\})", re.DOTALL)
_RESULT: Final = re.compile(r"result:(-?[1-9]\d*):(.+)", re.DOTALL)
FORMS: Final = "{{cwd}}, {{last_result}}, {{result:N:REGEX}}"


class NotFilled(Exception):
    """Raised when a placeholder finds nothing."""


class Conversation:
    """The tool results so far, in their order, and the folder."""

    def __init__(self, request: ModelRequest, cwd: Path) -> None:
        self._request = request
        self._cwd = cwd

    @cached_property
    def results(self) -> list[str]:
        """The texts of all tool results."""
        return [
            _text(block.get("content", ""))
            for message in self._request.messages
            if not isinstance(message["content"], str)
            for block in message["content"]
            if block["type"] == "tool_result"
        ]

    def last_result_matches(self, pattern: re.Pattern[str]) -> bool:
        """Whether the pattern is found in the last tool result."""
        return bool(self.results) and pattern.search(self.results[-1]) is not None

    def fill(self, value: Any) -> Any:
        """Return a JSON value with the placeholders of its texts filled. Raises NotFilled."""
        return _mapped(value, lambda text: _PLACEHOLDER.sub(lambda found: self._value(found[1]), text))

    def _value(self, name: str) -> str:
        if name == "cwd":
            return str(self._cwd)
        if name == "last_result":
            return self._result(name, -1)
        number, pattern = _parsed(name)
        text = self._result(name, number if number < 0 else number - 1)
        found = pattern.search(text)
        if found is None:
            raise NotFilled(f"{{{{{name}}}}} finds nothing in that result, which is {text[:300]!r}")
        return (found[1] or "") if pattern.groups else found[0]

    def _result(self, name: str, index: int) -> str:
        try:
            return self.results[index]
        except IndexError:
            raise NotFilled(
                f"{{{{{name}}}}} names a tool result of which there are {len(self.results)} so far"
            ) from None


def check(value: Any) -> None:
    """Raise ValueError where a text of a JSON value has a placeholder that can't be understood."""

    def checked(text: str) -> str:
        for name in _PLACEHOLDER.findall(text):
            if name not in ("cwd", "last_result"):
                _parsed(name)
        return text

    _mapped(value, checked)


def compiled(pattern: object) -> re.Pattern[str]:
    """Return a compiled REGEX, in which ^ and $ stand for the ends of lines. Raises ValueError."""
    if not isinstance(pattern, str):
        raise ValueError(f"a REGEX is a text, not {pattern!r}")
    try:
        return re.compile(pattern, re.MULTILINE)
    except re.error as error:
        raise ValueError(f"{pattern!r} is no regular expression: {error}") from None


def _parsed(name: str) -> tuple[int, re.Pattern[str]]:
    found = _RESULT.fullmatch(name)
    if found is None:
        raise ValueError(f"the placeholder {{{{{name}}}}} can't be understood; there are {FORMS}")
    return int(found[1]), compiled(found[2])


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(block["text"] for block in content if block["type"] == "text")


def _mapped(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {key: _mapped(inner, change) for key, inner in value.items()}
    return [_mapped(inner, change) for inner in value] if isinstance(value, list) else value
