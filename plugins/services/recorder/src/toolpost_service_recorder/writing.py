"""The file of a recording as it grows: JSON lines, each on disk as soon as it is known to hold no secret."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from toolpost import SessionError

from .requests import shortened, without_messages
from .values import plain

if TYPE_CHECKING:
    from toolpost import ModelRequest

FORM: Final = 2
"""The form of the file, in its first line."""
FORMS: Final = (1, FORM)
"""The forms that can be read."""
PIECES: Final = {"TextDelta": "text", "ThinkingDelta": "text", "InputDelta": "json"}
"""Pieces of a text, and the field that has it: a secret may be cut in two by them."""


class Writer:
    """Writes entries in their order; `redact` takes secrets out of each.

    Pieces of a text wait until it is complete, and what comes after them waits with them: a rule finds only whole
    secrets. A write that fails ends the recording; the session goes on.
    """

    def __init__(self, path: Path, header: Mapping[str, Any], redact: Callable[[Any], Any]) -> None:
        self.path = path
        self.problem: str | None = None
        self._redact = redact
        self._held: list[dict[str, Any]] = []
        self._open: set[int] = set()
        self._last: Mapping[str, Any] = {}
        self._known: dict[int, tuple[object, Any]] = {}
        try:
            self._fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise SessionError(f"The recording {path} can't be written: {error.strerror or error}.") from error
        self._write({"recording": FORM, **header})

    def put(self, entry: Mapping[str, Any]) -> None:
        """Write an entry, now or as soon as those before it are complete."""
        clean = {"e": entry["e"], **self._redact({key: value for key, value in entry.items() if key != "e"})}
        answer, piece = entry.get("answer"), _piece(entry)
        if piece and isinstance(answer, int):
            self._open.add(answer)
            clean = dict(entry)
        elif isinstance(answer, int):
            self._open.discard(answer)
        self._held.append(clean)
        if not self._open:
            self._let_go()

    def request(self, entry: Mapping[str, Any], request: ModelRequest) -> None:
        """Write a request, without what it has in common with the one before."""
        clean = {**self._redact(without_messages(request)), "messages": self._messages_of(request)}
        short, self._last = shortened(clean, self._last), clean
        self._held.append({**entry, "request": short})
        if not self._open:
            self._let_go()

    def _messages_of(self, request: ModelRequest) -> list[Any]:
        """Return the messages without secrets; those of the last request are known, as messages never change."""
        known, self._known = self._known, {}
        for message in request.messages:
            before = known.get(id(message))
            clean = before[1] if before is not None else self._redact(plain(message))
            self._known[id(message)] = message, clean
        return [self._known[id(message)][1] for message in request.messages]

    def close(self) -> None:
        """Write what waits, and that it is complete."""
        if self._fd >= 0:
            self._let_go()
            self._write({"e": "end"})
            os.close(self._fd)
            self._fd = -1

    def _let_go(self) -> None:
        for texts in _runs(self._held):
            self._clean(texts)
        held, self._held = self._held, []
        self._open.clear()
        for entry in held:
            self._write(entry)

    def _clean(self, texts: list[dict[str, Any]]) -> None:
        """Put a whole text into its first piece where it holds a secret."""
        field = PIECES[texts[0]["event"]["$"]]
        whole = "".join(entry["event"][field] for entry in texts)
        clean = self._redact(whole)
        if clean == whole:
            return
        for entry in texts:
            entry["event"] = {**entry["event"], field: ""}
        texts[0]["event"][field] = clean

    def _write(self, entry: Mapping[str, Any]) -> None:
        if self._fd < 0 or self.problem is not None:
            return
        data = json.dumps(entry, ensure_ascii=True, separators=(",", ":"), default=str).encode() + b"\n"
        try:
            while data:
                data = data[os.write(self._fd, data) :]
        except OSError as error:
            self.problem = f"The recording {self.path} ends here, as it can't be written: {error.strerror or error}."


def _piece(entry: Mapping[str, Any]) -> bool:
    return entry["e"] == "piece" and entry["event"].get("$") in PIECES


def _runs(entries: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Return the pieces of each text, by answer and kind."""
    runs: list[list[dict[str, Any]]] = []
    running: dict[int, list[dict[str, Any]]] = {}
    for entry in entries:
        answer = entry.get("answer")
        if not isinstance(answer, int):
            continue
        run = running.get(answer)
        if not _piece(entry):
            running.pop(answer, None)
        elif run is not None and run[0]["event"]["$"] == entry["event"]["$"]:
            run.append(entry)
        else:
            running[answer] = [entry]
            runs.append(running[answer])
    return runs
