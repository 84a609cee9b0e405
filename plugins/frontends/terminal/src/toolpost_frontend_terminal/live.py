"""What goes on right now, as lines that change: the end of the answer, running calls, the spinner. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from toolpost import (
    InputDelta,
    MessageStart,
    Retrying,
    RunResult,
    SessionEvent,
    SessionStarted,
    StreamEvent,
    Streaming,
    TextDelta,
    ThinkingDelta,
    ToolFinished,
    ToolProgressed,
    ToolStarted,
    ToolUseStart,
)

from .clean import clean, one_line, one_line_input

Fragment: TypeAlias = tuple[str, str]
Line: TypeAlias = Sequence[Fragment]
"""Pieces of text, each with a style by prompt_toolkit's names."""

FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
FRAME_SECONDS = 0.1
_DIM = "ansibrightblack"
STALLED = 30.0
"""Seconds in which nothing comes of an answer, after which the person is told."""


@dataclass
class _Running:
    name: str
    summary: str
    since: float
    progress: str = ""


class Live:
    """Follows the events of a turn; `clock` gives seconds."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._since: float | None = None
        self._heard = 0.0
        self._activity = self._hint = ""
        self._retry_at: float | None = None
        self._running: dict[str, _Running] = {}

    @property
    def busy(self) -> bool:
        """Whether a turn runs."""
        return self._since is not None

    def begin(self, activity: str, hint: str = "") -> None:
        """Something began that takes time; `hint` says what the person can do about it."""
        self._since, self._activity, self._hint, self._retry_at = self._clock(), activity, hint, None
        self._heard = self._clock()

    def end(self) -> None:
        """It is over."""
        self._since = self._retry_at = None
        self._running.clear()

    def follow(self, event: SessionEvent) -> None:
        """Take an event of the turn."""
        self._heard = self._clock()
        if isinstance(event, SessionStarted):
            self._activity = "Waiting for the model"
        elif isinstance(event, Streaming):
            self._stream(event.event)
        elif isinstance(event, ToolStarted):
            self._running[event.tool_use_id] = _Running(event.tool_name, event.summary, self._clock())
            self._activity = one_line(event.activity)
        elif isinstance(event, ToolProgressed) and event.tool_use_id in self._running:
            self._running[event.tool_use_id].progress = event.text
        elif isinstance(event, ToolFinished):
            self._running.pop(event.tool_use_id, None)
            self._activity = "Waiting for the model"
        elif isinstance(event, RunResult):
            self._running.clear()

    def lines(self, tail: Sequence[str], queued: Sequence[str]) -> list[Line]:
        """Return what to draw, from the top down."""
        shown: list[Line] = [[("", line)] for line in tail]
        for index, call in enumerate(self._running.values(), 1):
            shown += self._call(call, self._hint if index == len(self._running) else "")
        if self.busy and not self._running:
            shown.append(self._spinner())
        shown += [[(_DIM, f"  next: {one_line(text)}")] for text in queued[:-1]]
        shown += [[(_DIM, f"  next: {one_line(text)}  (↑ to change it)")] for text in queued[-1:]]
        return shown

    def _stream(self, event: StreamEvent) -> None:
        self._retry_at = None
        if isinstance(event, Retrying):
            self._retry_at = self._clock() + event.delay
            self._activity = f"Retrying ({event.attempt}/{event.of})"
        elif isinstance(event, MessageStart):
            self._activity = "Answering"
        elif isinstance(event, ThinkingDelta):
            self._activity = "Thinking"
        elif isinstance(event, TextDelta):
            self._activity = "Writing"
        elif isinstance(event, ToolUseStart):
            self._activity = f"Preparing {one_line(event.name)}"
        elif isinstance(event, InputDelta) and not self._activity.startswith("Preparing"):
            self._activity = "Preparing a call"

    def _call(self, call: _Running, hint: str) -> list[Line]:
        title = f"({one_line_input(call.summary)})" if call.summary else ""
        lines: list[Line] = [
            [
                ("ansigreen", f"{self._frame()} "),
                ("bold", one_line(call.name)),
                ("", title),
                (_DIM, "  " + " · ".join(filter(None, (self._elapsed(call.since), hint)))),
            ]
        ]
        last = clean(call.progress).rstrip().rpartition("\n")[2].strip()
        return [*lines, [(_DIM, f"  ⎿  {last}")]] if last else lines

    def _spinner(self) -> Line:
        since = self._clock() if self._since is None else self._since
        wait = "" if self._retry_at is None else f" in {max(0, round(self._retry_at - self._clock()))} s"
        note = "  " + " · ".join(filter(None, (self._elapsed(since), self._stalled(), self._hint)))
        return [("ansicyan", f"{self._frame()} "), ("", f"{self._activity}{wait}…"), (_DIM, note)]

    def _stalled(self) -> str:
        """Say that the service has been silent for long, where it is the service that is waited for."""
        silent = self._clock() - self._heard
        waits = bool(self._hint) and self._retry_at is None and silent >= STALLED
        return f"nothing has come for {int(silent)} s" if waits else ""

    def _frame(self) -> str:
        return FRAMES[int(self._clock() / FRAME_SECONDS) % len(FRAMES)]

    def _elapsed(self, since: float) -> str:
        minutes, rest = divmod(int(self._clock() - since), 60)
        return f"{minutes} m {rest} s" if minutes else f"{rest} s"
