"""The three output formats: what each writes for an event. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Protocol

from toolpost import RunResult, SessionEvent

from .lines import StreamLines, encode, result_fields
from .wire import fresh_id

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class Format(Protocol):
    """Says what standard output gets."""

    def show(self, event: SessionEvent) -> bytes:
        """Return what an event adds to the output; often nothing."""


class Text:
    """The final text only; on a terminal without control characters, which a model must not send there."""

    def __init__(self, *, terminal: bool) -> None:
        self._terminal = terminal

    def show(self, event: SessionEvent) -> bytes:
        """Return the text of a result that is no error."""
        if not isinstance(event, RunResult) or event.is_error or not event.text:
            return b""
        text = _CONTROLS.sub("", event.text) if self._terminal else event.text
        return (text if text.endswith("\n") else text + "\n").encode("utf-8", "replace")


class Json:
    """One result object for each prompt."""

    def __init__(self, new_id: Callable[[], str] = fresh_id) -> None:
        self._new_id = new_id

    def show(self, event: SessionEvent) -> bytes:
        """Return the object of a result."""
        if not isinstance(event, RunResult):
            return b""
        return encode({**result_fields(event), "session_id": event.session_id, "uuid": self._new_id()})


class StreamJson:
    """One JSON object a line for everything that happens."""

    def __init__(self, lines: StreamLines) -> None:
        self._lines = lines

    def show(self, event: SessionEvent) -> bytes:
        """Return the event's lines."""
        return b"".join(encode(line) for line in self._lines.of(event))
