"""The documentation's pages, examples and code blocks."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PAGES = [*sorted(ROOT.glob("docs/**/*.md")), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
EXAMPLES = sorted(ROOT.glob("docs/examples/acme_*"))
_BLOCK = re.compile(r"^ *```(\w+)([^\n]*)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)


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


def prose(page: Path) -> str:
    """Return a page without its fenced blocks."""
    return re.sub(r"^ *```.*?^ *```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


def as_module(page: Path, *, since: int = 0, until: float = math.inf) -> str:
    """Return the page's Python blocks marked `run` as one module, each line where it stands in the page."""
    lines: list[str] = []
    for block in blocks(page):
        if block.language == "python" and "run" in block.words and since <= block.line < until:
            lines += [""] * (block.line - len(lines)) + block.text.splitlines()
    return "\n".join(lines) + "\n"
