"""The loop: read a line, run the turn or the command, read the next."""

from __future__ import annotations

import asyncio
import os
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from toolpost import (
    MODES,
    Diff,
    Notice,
    PermissionMode,
    Reply,
    RunResult,
    ToolFinished,
    ToolpostError,
    ToolStarted,
    text_of,
)

from . import asking, commands, draw, resuming, spending, trusting

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from toolpost import Host, LaunchOptions, Question, SessionDoor, SessionEvent

    from .stage import Stage

# What Shift-Tab goes through; the other modes take more than a key.
_CYCLE: tuple[PermissionMode, ...] = ("default", "acceptEdits", "plan")


class Repl:
    """One sitting at the terminal. See the README for what it reads of `LaunchOptions.extra`."""

    def __init__(self, host: Host, stage: Stage, locate: Callable[[Diff], int | None], *, interactive: bool) -> None:
        extra = host.options.extra
        self._host = host
        self._stage = stage
        self._locate = locate
        self._once = bool(extra.get("once"))
        self._yes = bool(extra.get("yes"))
        self._pause = float(extra.get("pause", 0))
        self._interactive = interactive
        self._asking = asyncio.Lock()
        self._code = 0
        self._asked = False
        self._after: list[SessionEvent] = []
        self._next: LaunchOptions | None = None
        self._left: LaunchOptions | None = None
        self.door: SessionDoor | None = None

    async def run(self) -> int:
        """Open the session and serve the person until they are done; return the exit code."""
        if self._interactive and not self._once:
            await trusting.ask(self._host, self._stage)
        options = self._host.options
        if options.resume == "":
            picked = await resuming.chosen(self._host, self._stage)
            if picked is None:
                return 0
            options = picked
        following: LaunchOptions | None = options
        while following is not None:
            following = await self._sit_or_go_back(following)
        return self._code if self._once or not self._interactive else 0

    async def _sit_or_go_back(self, options: LaunchOptions) -> LaunchOptions | None:
        """Serve one session and return what to open next; where it can't be opened, what was left for it."""
        try:
            return await self._sit(options)
        except ToolpostError as error:
            if self.door is not None or self._left is None:
                raise
            self._stage.idle()
            self._stage.show("notice", draw.notice(Notice(str(error), "error")))
            going_back, self._left = self._left, None
            return going_back

    async def _sit(self, options: LaunchOptions) -> LaunchOptions | None:
        self.door = self._next = None
        self._stage.busy("Opening the session")
        async with self._host.open(options, ask=self._ask if self._interactive or self._yes else None) as door:
            self.door = door
            self._stage.idle()
            self._show_history(door)
            self._show_status(door)
            await self._serve(door, options.prompt)
            self._show_end(door)
            self._left = resuming.again(options, door)
        return self._next

    async def _serve(self, door: SessionDoor, prompt: str | None) -> None:
        if prompt and (not await self._do(door, prompt) or self._once):
            return
        while True:
            if door.is_due:
                await self._turn(door, door.go_on())
            elif (line := await self._line(door)) is not None:
                if not await self._do(door, line):
                    return
            elif not door.is_due:
                return
            self._show_status(door)

    async def _line(self, door: SessionDoor) -> str | None:
        """Return the person's next line; None once they are done, or a turn is due without one."""
        reading, due = asyncio.ensure_future(self._stage.next_line()), asyncio.ensure_future(door.due())
        try:
            await asyncio.wait({reading, due}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            due.cancel()
            if not reading.done():
                reading.cancel()
                await asyncio.wait({reading})
        return None if reading.cancelled() else reading.result()

    async def _do(self, door: SessionDoor, line: str) -> bool:
        """Run a prompt or a command; return whether to go on."""
        command = commands.parse(line)
        if command is not None:
            return await self._command(door, line, *command)
        await self._submit(door, line)
        return True

    async def _submit(self, door: SessionDoor, prompt: str) -> None:
        self._stage.show("prompt", draw.prompt(prompt))
        await self._turn(door, door.submit(prompt))

    async def _turn(self, door: SessionDoor, events: AsyncIterator[SessionEvent]) -> None:
        """Show a turn to its end."""
        self._stage.busy("Waiting for the model", door)
        try:
            async for event in events:
                self._follow(_with_short_paths(event, door))
                if isinstance(event, RunResult):
                    self._code = _exit_code(event)
        except ToolpostError as error:
            self._code = 1
            self._stage.show("notice", draw.notice(Notice(str(error), "error")))
        finally:
            self._stage.idle()

    def _follow(self, event: SessionEvent) -> None:
        """Draw an event; while a question waits for its answer, afterwards: the two have to stand together."""
        if self._asked:
            self._after.append(event)
        else:
            self._stage.follow(event)

    async def _command(self, door: SessionDoor, line: str, name: str, argument: str) -> bool:
        self._stage.show("prompt", draw.prompt(line))
        if name == commands.RESUME:
            self._next = await resuming.other(self._host, self._stage, argument, door)
            return self._next is None
        return await commands.run(name, argument, door, self._stage)

    async def _ask(self, question: Question) -> Reply:
        """Put one question at a time, whatever number of calls wait."""
        async with self._asking:
            if self.door is not None:
                question = replace(question, details=_short(question.details, self.door))
            view = asking.view_of(question)
            first = self._locate(view) if isinstance(view, Diff) else None
            self._stage.show("question", *asking.drawings(question, view, first))
            self._stage.seen(view)
            self._asked = True
            try:
                label, reply = await self._answer(question)
                self._stage.show("question", asking.answered(label))
            finally:
                self._asked = False
                while self._after:
                    self._stage.follow(self._after.pop(0))
            return reply

    async def _answer(self, question: Question) -> tuple[str, Reply]:
        if not self._yes:
            return await self._stage.choose(asking.choices(question))
        await asyncio.sleep(self._pause)
        return "Yes (--yes answers)", Reply(allow=True)

    def _show_history(self, door: SessionDoor) -> None:
        """Show the last exchange of a session that goes on."""
        if not door.messages:
            return
        # A message holds more than was typed: what the model is told beside it, or a summary in its place.
        prompts = [prompt for prompt in door.sent_prompts() if not prompt.rewound]
        if prompts:
            self._stage.show("prompt", draw.prompt(prompts[-1].text))
        answers = (text_of(message) for message in reversed(door.messages) if message["role"] == "assistant")
        if answer := next(filter(str.strip, answers), ""):
            self._stage.show("text", draw.markdown(answer))
        count = "1 message" if len(door.messages) == 1 else f"{len(door.messages)} messages"
        self._stage.show("notice", draw.notice(Notice(f"The session goes on after {count}.")))

    def _show_status(self, door: SessionDoor) -> None:
        def next_mode() -> PermissionMode:
            at = _CYCLE.index(door.permission_mode) if door.permission_mode in _CYCLE else -1
            try:
                door.set_permission_mode(_CYCLE[(at + 1) % len(_CYCLE)])
            except ToolpostError as error:
                self._stage.show("notice", draw.notice(Notice(str(error), "error")))
            self._show_status(door)
            return door.permission_mode

        spent = spending.in_short(door.costs(), door.budget_left())
        mode = door.permission_mode if door.permission_mode in MODES else "default"
        shown = (door.model.id, f"{mode} mode", spent, "" if self._once else "/help")
        self._stage.status(" · ".join(filter(None, shown)), next_mode)

    def _show_end(self, door: SessionDoor) -> None:
        if door.costs():
            self._stage.show("end", spending.drawing(door.costs(), door.totals()))
        if door.transcript_path is not None and door.transcript_path.exists():
            self._stage.show("end", draw.Whole(f"Transcript: {door.transcript_path}"))
            if not self._once:
                self._stage.show("end", draw.Whole(f"Go on with: toolpost --resume {door.id}"))


def _exit_code(result: RunResult) -> int:
    return 130 if result.terminal_reason.startswith("aborted") else int(result.is_error)


def _with_short_paths(event: SessionEvent, door: SessionDoor) -> SessionEvent:
    """Leave the session's own folder out of what the lines of calls show."""
    if isinstance(event, ToolStarted):
        return replace(event, summary=_short(event.summary, door), activity=_short(event.activity, door))
    if isinstance(event, ToolFinished):
        return replace(event, summary=_short(event.summary, door))
    return event


def _short(text: str, door: SessionDoor) -> str:
    folder = re.escape(str(door.cwd))
    return re.sub(rf"{folder}(?=$|[\s'\"):,])", ".", re.sub(folder + re.escape(os.sep), "", text))
