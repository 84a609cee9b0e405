"""The application's rows: what goes on or a question, the input line, the status."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prompt_toolkit.filters import Condition, is_searching
from prompt_toolkit.layout.containers import AnyContainer, ConditionalContainer, HSplit, VerticalAlign, Window
from prompt_toolkit.layout.controls import BufferControl, FormattedTextControl
from prompt_toolkit.layout.dimension import Dimension
from prompt_toolkit.layout.layout import Layout
from prompt_toolkit.widgets import SearchToolbar

from .commands import completions
from .fit import fit

if TYPE_CHECKING:
    from prompt_toolkit.buffer import Buffer
    from prompt_toolkit.formatted_text import StyleAndTextTuples

    from .screen import Screen

_DIM = "ansibrightblack"


def build(screen: Screen) -> Layout:
    """Return the layout; what it shows is read from the screen with each frame."""

    def live() -> StyleAndTextTuples:
        shown: StyleAndTextTuples = []
        for line in screen.live_lines():
            shown += [*line, ("", "\n")]
        return shown

    def status() -> StyleAndTextTuples:
        near = completions(screen.input.text)
        return [*fit([(_DIM, "  " + (screen.hint or "  ".join(near) or screen.status_text))], screen.columns)]

    asking = Condition(lambda: screen.dialog is not None)
    writing = Condition(lambda: screen.dialog is not None and screen.dialog.writing)
    reading = Condition(lambda: screen.reads) & ~asking
    search = SearchToolbar(forward_search_prompt="  Search: ", backward_search_prompt="  Search back: ")
    rows: list[AnyContainer] = [
        Window(FormattedTextControl(live), dont_extend_height=True, height=Dimension(min=1)),
        ConditionalContainer(_line(screen.reason, "  Instead: "), writing),
        ConditionalContainer(_line(screen.input, "› ", search if screen.reads else None), reading),
        search,
        ConditionalContainer(Window(FormattedTextControl(status), height=1), ~asking & ~is_searching),
    ]
    return Layout(HSplit(rows, align=VerticalAlign.TOP), focused_element=screen.input)


def _line(buffer: Buffer, prompt: str, search: SearchToolbar | None = None) -> Window:
    def prefix(number: int, wraps: int) -> StyleAndTextTuples:
        first = number == 0 and wraps == 0
        return [("bold ansicyan", prompt if first else " " * len(prompt))]

    return Window(
        BufferControl(buffer, search_buffer_control=None if search is None else search.control, preview_search=True),
        wrap_lines=True,
        dont_extend_height=True,
        height=Dimension(min=1, max=12),
        get_line_prefix=prefix,
    )
