"""Finding words in what sessions say, within a bound: of many and long sessions the newest parts are read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from toolpost import SessionError
from toolpost_core.transcripts.chain import is_message
from toolpost_core.transcripts.mending import sound_blocks
from toolpost_core.transcripts.reading import lines_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from toolpost_core.transcripts.listing import SessionFile

FILE_BYTES: Final = 20_000_000
"""The most that is read of a session: its end."""
ALL_BYTES: Final = 400_000_000
"""The most that a search reads."""
AROUND: Final = 30
"""Characters that are shown on each side of a word that was found."""


class Search:
    """Looks for words, in any case, all of which a session must have: in its title, branch or folder, or in what was said.

    `partly` counts the sessions that were not read to their beginning, or at all.
    """

    def __init__(self, words: str) -> None:
        self._words = tuple(dict.fromkeys(words.casefold().split()))
        self._left = ALL_BYTES
        self.partly = 0

    def found(self, session: SessionFile) -> str | None:
        """Return what was said around the first word that was found there, empty for a title; None where words are missing.

        Sessions are to be asked for from the newest on, since the bound is one for all.
        """
        head = f"{session.id} {session.title} {session.branch} {session.project}".casefold()
        missing = {word for word in self._words if word not in head}
        return self._said(session, missing) if missing else ""

    def _said(self, session: SessionFile, missing: set[str]) -> str | None:
        most = min(FILE_BYTES, self._left)
        start = max(session.size - most, 0)
        shown = ""
        try:
            for text in self._texts(session, start, missing):
                folded = text.casefold()
                for word in [word for word in missing if word in folded]:
                    missing.discard(word)
                    shown = shown or _around(text, folded.index(word), len(word))
                if not missing:
                    return shown
        except SessionError:
            return None  # removed since it was listed
        finally:
            self._left -= min(session.size, most)
        self.partly += start > 0
        return None

    def _texts(self, session: SessionFile, start: int, missing: set[str]) -> Iterator[str]:
        """Yield what was said in records that may hold a missing word."""

        def may_hold(raw: bytes) -> bool:
            line = raw.lower()
            return any(_may_hold(line, word) for word in missing)

        if start < session.size:
            for line in lines_in(session.path, start, may_hold):
                if line.record is not None:
                    yield from _texts_of(line.record)


def _may_hold(line: bytes, word: str) -> bool:
    """Whether a line can't be passed over unread; a word of other letters may stand in it in several ways."""
    if word.isascii():
        return json.dumps(word)[1:-1].encode() in line
    return not line.isascii() or b"\\u" in line


def _texts_of(record: Mapping[str, Any]) -> Iterator[str]:
    """Yield the texts, the inputs of calls and the results in a record, without what the program added for the model."""
    if not is_message(record) or record.get("isMeta") or record.get("isSidechain"):
        return
    blocks: list[Any] = list(sound_blocks(record["message"]))
    at = record.get("promptAt")
    for block in blocks[at if isinstance(at, int) else 0 :]:
        match block:
            case {"type": "text", "text": str(text)}:
                yield text
            case {"type": "tool_use", "input": given}:
                yield from _strings(given)
            case {"type": "tool_result", "content": content}:
                yield from _strings(content)


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _strings(each)
    elif isinstance(value, list):
        for each in value:
            yield from _strings(each)


def _around(text: str, place: int, length: int) -> str:
    start, end = max(place - AROUND, 0), place + length + AROUND
    cut = " ".join(text[start:end].split())
    return f"{'…' if start else ''}{cut}{'…' if end < len(text) else ''}"
