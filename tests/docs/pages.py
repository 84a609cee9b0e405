"""The documentation's pages, examples and code blocks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PAGES = [*sorted(ROOT.glob("docs/**/*.md")), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
EXAMPLES = sorted(ROOT.glob("docs/examples/acme_*"))
_BLOCK = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    """A fenced code block: where it stands, its language, the words after it, its text."""

    page: Path
    line: int
    language: str
    words: tuple[str, ...]
    text: str


def blocks(page: Path) -> Iterator[Block]:
    """Yield the fenced blocks of a page that have a language."""
    text = page.read_text(encoding="utf-8")
    for found in _BLOCK.finditer(text):
        line = text.count("\n", 0, found.start()) + 1
        yield Block(page, line, found[1], tuple(found[2].split()), found[3])
