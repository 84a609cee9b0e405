"""A notebook's text and where its cells stand in it, so that a change leaves all other text as it is."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from json.decoder import JSONDecoder
from typing import Any

Cell = dict[str, Any]

_BLANK = re.compile(r"[ \t\r\n]*")
_decode = JSONDecoder().raw_decode


@dataclass(frozen=True)
class Notebook:
    """A notebook of format 4; `spans` are the cells' places in `text`, `inside` is what the list's brackets hold."""

    text: str
    document: Mapping[str, Any]
    spans: tuple[tuple[int, int], ...]
    inside: tuple[int, int]

    @property
    def cells(self) -> list[Cell]:
        """The cells, in order."""
        return list(self.document["cells"])

    @property
    def has_ids(self) -> bool:
        """Whether the format knows cell ids: from 4.5 on."""
        return (self.document.get("nbformat"), self.document.get("nbformat_minor")) >= (4, 5)

    @property
    def language(self) -> str:
        """The language of the code cells."""
        metadata = self.document.get("metadata")
        info = metadata.get("language_info") if isinstance(metadata, dict) else None
        return str(info.get("name", "python")) if isinstance(info, dict) else "python"


def parse(text: str) -> Notebook:
    """Find the cells; raises ValueError for what is no notebook of format 4."""
    try:
        document = json.loads(text)
        if not isinstance(document, dict) or not isinstance(document.get("cells"), list):
            raise ValueError("it has no list of cells, which formats before 4 do not have either")
        start = dict(_members(text))["cells"]
        spans = tuple(_items(text, start))
        end = _decode(text, start)[1]
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if not all(isinstance(cell, dict) for cell in document["cells"]):
        raise ValueError("its list of cells holds something else than cells")
    version = (document.get("nbformat", 4), document.get("nbformat_minor", 0))
    if not all(isinstance(number, int) for number in version):
        raise ValueError("its format version is no number")
    return Notebook(
        text, {**document, "nbformat": version[0], "nbformat_minor": version[1]}, spans, (start + 1, end - 1)
    )


def _members(text: str) -> Iterator[tuple[str, int]]:
    """Yield each key of the object that the text is, with the place of its value."""
    at = _after_blanks(text, 0) + 1
    while text[at := _after_blanks(text, at)] != "}":
        key, at = _decode(text, at)
        at = _after_blanks(text, _after_blanks(text, at) + 1)  # behind the colon
        yield key, at
        at = _after_comma(text, _decode(text, at)[1])


def _items(text: str, at: int) -> Iterator[tuple[int, int]]:
    """Yield the place of each item of the array that begins at `at`."""
    at += 1
    while text[at := _after_blanks(text, at)] != "]":
        end = _decode(text, at)[1]
        yield at, end
        at = _after_comma(text, end)


def _after_comma(text: str, at: int) -> int:
    at = _after_blanks(text, at)
    return at + 1 if text[at] == "," else at


def _after_blanks(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return found.end() if found else at
