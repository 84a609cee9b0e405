"""Markdown as this terminal shows it. Imports rich's Markdown, so it is imported late."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from rich import box
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.markdown import Heading, HorizontalRule, ListItem, Markdown, MarkdownElement, Paragraph, TableElement
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from .cjk import broken

if TYPE_CHECKING:
    from markdown_it.token import Token
    from rich.markdown import MarkdownContext
    from rich.text import TextType

_BREAK = re.compile(r"<br\s*/?>")


class _PlainHeading(Heading):
    """A heading on the left, without a box."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        text: Text = self.text
        text.justify = "left"
        text.stylize("bold underline" if self.tag == "h1" else "bold")
        yield text


class _Paragraph(Paragraph):
    """A paragraph that breaks between the characters of scripts without blanks."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        self.text.justify = self.justify
        yield broken(self.text, options.max_width)


class _Line(HorizontalRule):
    """A line across, set off like a paragraph."""

    new_line = True

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Text("─" * options.max_width, "dim")


class _NumberedItem(ListItem):
    """An item whose number has its full stop."""

    def render_number(self, console: Console, options: ConsoleOptions, number: int, last_number: int) -> RenderResult:
        numeral = f"{number}.".rjust(len(str(last_number - 1)) + 2) + " "
        style = console.get_style("markdown.item.number", default="none")
        room = options.update(width=options.max_width - len(numeral))
        for index, row in enumerate(console.render_lines(self.elements, room, style=self.style)):
            yield Segment(" " * len(numeral) if index else numeral, style)
            yield from row
            yield Segment.line()


class _WholeTable(TableElement):
    """A table that cuts nothing: what is too long for its column goes on in the next row."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        table = Table(box=box.SIMPLE, pad_edge=False, style="markdown.table.border", collapse_padding=True)
        for column in self.header.row.cells if self.header is not None and self.header.row is not None else ():
            heading = column.content.copy()
            heading.stylize("markdown.table.header")
            table.add_column(heading, overflow="fold")
        for row in self.body.rows if self.body is not None else ():
            table.add_row(*(cell.content for cell in row.cells))
        yield table


class _Html(_Paragraph):
    """HTML as it stands: a terminal can't show what it means, and `Vec<u8>` looks like it."""

    @classmethod
    def create(cls, markdown: Markdown, token: Token) -> _Html:
        del token
        return cls(markdown.justify or "left")

    def on_text(self, context: MarkdownContext, text: TextType) -> None:
        super().on_text(context, text.rstrip("\n") if isinstance(text, str) else text)


class _Prose(Markdown):
    elements: ClassVar[dict[str, type[MarkdownElement]]] = {
        **Markdown.elements,
        "heading_open": _PlainHeading,
        "hr": _Line,
        "html_block": _Html,
        "list_item_open": _NumberedItem,
        "paragraph_open": _Paragraph,
        "table_open": _WholeTable,
    }

    def __init__(self, text: str) -> None:
        # Code has the terminal's own background, and links show where they lead.
        super().__init__(text, code_theme="ansi_dark", hyperlinks=False, inline_code_theme="ansi_dark")
        for token in self.parsed:
            if token.children:
                token.children = list(_whole(token.children))


def _whole(tokens: Sequence[Token]) -> Iterator[Token]:
    """Yield the parts of a paragraph so that nothing is lost: line ends, HTML, and where pictures lead."""
    plain_links = 0
    for index, token in enumerate(tokens):
        if token.type == "softbreak" or (token.type == "html_inline" and _BREAK.fullmatch(token.content)):
            yield replace(token, type="hardbreak")
        elif token.type == "html_inline":
            yield replace(token, type="text")
        elif token.type == "image":
            yield from _picture(token)
        elif token.type == "link_open" and _tells_its_target(tokens[index : index + 3]):
            plain_links += 1
        elif token.type == "link_close" and plain_links:
            plain_links -= 1
        else:
            yield token


def _picture(token: Token) -> Iterator[Token]:
    source = str(token.attrs.get("src", ""))
    text = replace(token, type="text", tag="", content=token.content or source, children=None)
    if token.content:
        yield replace(token, type="link_open", tag="a", nesting=1, attrs={"href": source}, content="", children=None)
        yield text
        yield replace(token, type="link_close", tag="a", nesting=-1, content="", children=None)
    else:
        yield text


def _tells_its_target(tokens: Sequence[Token]) -> bool:
    opened, told, *_ = tokens
    return told.type == "text" and told.content == opened.attrs.get("href") and tokens[-1].type == "link_close"


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
    """Return the text as a renderable, in which nothing that it says is left out."""
    return _Trimmed(_Prose(text))
