"""What a session's events leave on the screen for good, in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final, Protocol

from toolpost import (
    AssistantMessage,
    Diff,
    MessageStart,
    Notice,
    PromptTaken,
    Retrying,
    RunResult,
    SessionEvent,
    StreamEvent,
    Streaming,
    TextDelta,
    ThinkingDelta,
    ToolFinished,
    ToolUseStart,
    text_of,
)

from . import draw

if TYPE_CHECKING:
    from .draw import Drawing

    Locate = Callable[[Diff], int | None]


_ANEW: Final = ("answer_superseded", "model_fallback")
"""Notices that say that the answer begins again."""


class Pieces(Protocol):
    """Cuts streamed text into pieces that are final."""

    @property
    def tail(self) -> str:
        """What is not final yet."""

    def feed(self, text: str) -> Iterator[str]:
        """Take more; yield what became final."""

    def finish(self) -> str:
        """Give back the rest."""


class WholeLines:
    """Pieces for a terminal that can't redraw: whole lines. Blank ones wait for what stands below them."""

    def __init__(self) -> None:
        self.tail = ""
        self._begun = False

    def feed(self, text: str) -> Iterator[str]:
        """Yield all lines that are complete, as one piece."""
        complete, end, rest = (self.tail + text).rpartition("\n")
        piece = complete.rstrip("\n")
        if not piece:
            self.tail = complete + end + rest
            return
        self.tail = complete[len(piece) :] + rest
        yield self._next(piece)

    def finish(self) -> str:
        """Give back the last line."""
        rest, self.tail = self._next(self.tail.rstrip("\n")), ""
        self._begun = False
        return rest

    def _next(self, piece: str) -> str:
        """Return the piece, the first one without the blank lines above it."""
        shown = piece if self._begun else piece.lstrip("\n")
        self._begun = True
        return shown


class Narrator:
    """Turns events into drawings. `locate` says on which line of its file a change begins, if that can be known."""

    def __init__(self, pieces: Pieces, locate: Locate, *, markdown: bool, spaced: bool = True) -> None:
        self._pieces = pieces
        self._locate = locate
        self._markdown = markdown
        self._spaced = spaced
        self._streamed = ""
        self._whole = self._anew = False
        self._drawn: list[str] = []
        self._above: list[str] = []
        self._last = ""
        self._seen: list[Diff] = []

    @property
    def tail(self) -> str:
        """The text that is still being written."""
        return self._pieces.tail

    def tell(self, event: SessionEvent) -> Iterator[Drawing]:
        """Yield what the event adds."""
        if isinstance(event, Streaming):
            yield from self._stream(event.event)
        elif isinstance(event, AssistantMessage):
            yield from self._message(event)
        elif isinstance(event, ToolFinished):
            yield from self._flush()
            drawn = isinstance(event.view, Diff) and self._was_seen(event.view)
            first = self._locate(event.view) if isinstance(event.view, Diff) else None
            yield from self._gap("tool")
            yield from draw.finished(event, first_line=first, drawn=drawn)
        elif isinstance(event, PromptTaken):
            yield from self.other("prompt", draw.prompt(event.prompt.text))
        elif isinstance(event, Notice):
            if event.kind in _ANEW:
                self._take_back()
            yield from self._flush()
            yield from self._gap("notice")
            yield draw.notice(event)
        elif isinstance(event, RunResult):
            yield from self._flush()
            said = draw.outcome(event)
            if said is not None:
                yield from self._gap("outcome")
                yield said

    def other(self, kind: str, *drawings: Drawing) -> Iterator[Drawing]:
        """Yield drawings that come from elsewhere, set off from what stands above them."""
        yield from self._flush()
        yield from self._gap(kind)
        yield from drawings

    def seen(self, view: Any) -> None:
        """Remember a change that was drawn in a question, so that its result does not draw it again."""
        if isinstance(view, Diff):
            self._seen.append(view)

    def _stream(self, event: StreamEvent) -> Iterator[Drawing]:
        if isinstance(event, MessageStart):
            yield from self._flush()
            self._streamed = ""
            self._above, self._drawn = (self._drawn if self._anew else []), []
            self._anew = False
        elif isinstance(event, TextDelta):
            if self._whole:
                yield from self._flush()
            self._streamed += event.text
            for piece in self._pieces.feed(event.text):
                yield from self._prose(piece)
        elif isinstance(event, (ToolUseStart, ThinkingDelta)):
            yield from self._flush()
        elif isinstance(event, Retrying):
            self._take_back()
            yield from self._gap("notice")
            wait = f"{event.delay:.0f}" if event.delay >= 1 else f"{event.delay:.1f}"
            text = f"{event.error.rstrip('.')}; retrying in {wait} s ({event.attempt}/{event.of})"
            yield draw.notice(Notice(text, "warning"))

    def _message(self, event: AssistantMessage) -> Iterator[Drawing]:
        """Draw the text of a block unless it was streamed already. Its end waits for what follows: see `_take_back`."""
        text = text_of(event.message)
        if event.parent_tool_use_id is not None or not text:
            return
        before, found, after = self._streamed.partition(text)
        self._streamed = before + after
        if not found:
            for piece in self._pieces.feed(text):
                yield from self._prose(piece)
        self._whole = True

    def _take_back(self) -> None:
        """Forget the end of an answer that is given anew; what is drawn for good stands above the new one."""
        self._whole, self._anew = False, True
        self._pieces.finish()

    def _flush(self) -> Iterator[Drawing]:
        self._whole = False
        rest = self._pieces.finish()
        if rest.strip():
            yield from self._prose(rest)

    def _prose(self, text: str) -> Iterator[Drawing]:
        """Draw a piece, unless the answer that this one takes the place of had it as well."""
        self._drawn.append(text)
        if self._above and self._above.pop(0) == text:
            return
        self._above.clear()
        if not self._markdown:
            yield from self._gap("text", always=False)
            yield draw.lines_of(text.rstrip("\n"))
        elif text.strip():
            yield from self._gap("text", always=True)
            yield draw.markdown(text)

    def _gap(self, kind: str, *, always: bool = False) -> Iterator[Drawing]:
        """A blank line between things of different kinds, and between paragraphs."""
        if kind not in ("text", "notice"):
            self._drawn.clear()
        if self._spaced and (always or self._last != kind):
            yield ""
        self._last = kind

    def _was_seen(self, view: Diff) -> bool:
        """Whether a question showed this change; what was asked may have held less of the file around it."""
        for index, seen in enumerate(self._seen):
            inside = (seen.before or "") in (view.before or "") and seen.after in view.after
            if seen.path == view.path and inside:
                del self._seen[index]
                return True
        return False
