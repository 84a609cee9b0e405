"""The application's rows: what goes on or a question, the input line, the status."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prompt_toolkit.filters import Condition
from prompt_toolkit.layout.containers import ConditionalContainer, HSplit, VerticalAlign, Window
from prompt_toolkit.layout.controls import BufferControl, FormattedTextControl
from prompt_toolkit.layout.dimension import Dimension
from prompt_toolkit.layout.layout import Layout

from .commands import completions

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
        return [(_DIM, "  " + (screen.hint or "  ".join(near) or screen.status_text))]

    asking = Condition(lambda: screen.dialog is not None)
    writing = Condition(lambda: screen.dialog is not None and screen.dialog.writing)
    rows = [
        Window(FormattedTextControl(live), dont_extend_height=True, height=Dimension(min=1)),
        ConditionalContainer(_line(screen.reason, "  Instead: "), writing),
        ConditionalContainer(_line(screen.input, "› "), ~asking),
        ConditionalContainer(Window(FormattedTextControl(status), height=1), ~asking),
    ]
    return Layout(HSplit(rows, align=VerticalAlign.TOP), focused_element=screen.input)


def _line(buffer: Buffer, prompt: str) -> Window:
    def prefix(number: int, wraps: int) -> StyleAndTextTuples:
        first = number == 0 and wraps == 0
        return [("bold ansicyan", prompt if first else " " * len(prompt))]

    return Window(
        BufferControl(buffer),
        wrap_lines=True,
        dont_extend_height=True,
        height=Dimension(min=1, max=12),
        get_line_prefix=prefix,
    )
