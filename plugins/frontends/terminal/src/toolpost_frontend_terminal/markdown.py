"""Markdown as this terminal shows it. Imports rich's Markdown, so it is imported late."""

from __future__ import annotations

from typing import ClassVar

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.markdown import Heading, Markdown, MarkdownElement
from rich.segment import Segment
from rich.text import Text


class _PlainHeading(Heading):
    """A heading on the left, without a box."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        text: Text = self.text
        text.justify = "left"
        text.stylize("bold underline" if self.tag == "h1" else "bold")
        yield text


class _Prose(Markdown):
    elements: ClassVar[dict[str, type[MarkdownElement]]] = {**Markdown.elements, "heading_open": _PlainHeading}


class _Trimmed:
    """Something drawn without the blank rows above and below it, which lists and code bring along."""

    def __init__(self, inner: Markdown) -> None:
        self._inner = inner

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        rows = console.render_lines(self._inner, options, pad=False)
        full = [index for index, row in enumerate(rows) if any(segment.text.strip() for segment in row)]
        for row in rows[full[0] : full[-1] + 1] if full else []:
            yield from row
            yield Segment.line()


def prose(text: str) -> RenderableType:
    """Return the text as a renderable; code has the terminal's own background, links show where they lead."""
    return _Trimmed(_Prose(text, code_theme="ansi_dark", hyperlinks=False, inline_code_theme="ansi_dark"))
