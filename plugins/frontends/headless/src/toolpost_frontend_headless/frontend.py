"""The front end of `toolpost -p`."""

from __future__ import annotations

import asyncio
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, cast

from toolpost import (
    Frontend,
    LaunchOptions,
    Notice,
    Retrying,
    RunResult,
    SessionError,
    SettingsError,
    Streaming,
    ToolpostError,
    Usage,
)

from . import pipes
from .control import answer
from .ending import Ending
from .formats import Format, Json, StreamJson, Text
from .incoming import Bad, Control, Prompt, parse
from .lines import StreamLines, what_helps, why_it_failed
from .stdout import private_stdout
from .wire import fresh_id

if TYPE_CHECKING:
    from asyncio import Task
    from collections.abc import AsyncIterator, Callable

    from toolpost import Host, SessionDoor, SessionEvent

_NO_PROMPT: Final = "There is no prompt. Give one (toolpost -p 'your prompt') or pipe it to standard input."


class Headless(Frontend):
    """Prints a run for a program or a pipe, and asks nobody anything."""

    async def run(self, host: Host) -> int:
        """Run the prompt, or with stream-json input each that comes until EOF."""
        options = host.options
        problem = _problem(options)
        if problem is not None:
            _complain(problem)
            return 2
        ending = Ending(cast("Task[Any]", asyncio.current_task()))
        with private_stdout() as fd, ending:
            out = _Output(_format(host, options.session_id or "", fd), ending, fd)
            try:
                code = await _PrintRun(host, out, ending).run()
            except asyncio.CancelledError:
                if ending.code is None:
                    raise
                cast("Task[Any]", asyncio.current_task()).uncancel()
                code = ending.code
        return code if ending.code is None else ending.code


def _problem(options: LaunchOptions) -> str | None:
    """What is wrong with the options, for the person."""
    if options.json_schema is not None:
        return "--json-schema is not supported yet: leave it out and ask for the JSON in the prompt."
    taken_up = options.resume is not None or options.continue_last  # a call may wait there, which needs no prompt
    return _NO_PROMPT if options.input_format == "text" and not _has_prompt(options) and not taken_up else None


def _has_prompt(options: LaunchOptions) -> bool:
    return bool((options.prompt or "").strip())


def _format(host: Host, session_id: str, fd: int | None, new_id: Callable[[], str] = fresh_id) -> Format:
    options = host.options
    if options.output_format == "stream-json":
        return StreamJson(
            StreamLines(session_id, host.version, partial=options.include_partial_messages, new_id=new_id)
        )
    if options.output_format == "json":
        return Json(new_id)
    return Text(terminal=fd is not None and os.isatty(fd))


def _complain(text: str, level: str = "error") -> None:
    """Tell the person on standard error, where there is one."""
    if sys.stderr is not None and not sys.stderr.closed:
        prefix = "" if level == "info" else f"{level}: "
        with suppress(OSError):
            print(f"toolpost: {prefix}{text}", file=sys.stderr, flush=True)


class _Output:
    """Standard output, written in whole events; once its reader is gone the run is called off and the rest dropped."""

    def __init__(self, format: Format, ending: Ending, fd: int | None) -> None:
        self.format = format
        self._ending = ending
        self._fd = self.fd = fd
        self._turn = asyncio.Lock()

    async def show(self, event: SessionEvent) -> None:
        """Write what the format says of an event."""
        await self._write(self.format.show(event))

    async def _write(self, data: bytes) -> None:
        async with self._turn:
            if not data or self._fd is None:
                return
            try:
                await pipes.write(self._fd, data)
            except BrokenPipeError:
                self._fd = None
                self._ending.begin(1)
            except OSError as error:
                self._fd = None
                _complain(f"Standard output can't be written: {error.strerror}. The run is called off.")
                self._ending.begin(1)


class _PrintRun:
    """One session from its opening to its end."""

    def __init__(self, host: Host, out: _Output, ending: Ending) -> None:
        self._host = host
        self._options = host.options
        self._out = out
        self._ending = ending
        self._code = 0
        self._heard = asyncio.Event()

    async def run(self) -> int:
        """Open the session and put the prompts; a session that can't be opened has a result too."""
        try:
            async with self._host.open(self._options) as door:
                self._out.format = _format(self._host, door.id, self._out.fd, door.new_id)
                if self._options.input_format == "stream-json":
                    await self._serve(door)
                elif _has_prompt(self._options):
                    await self._follow(door, door.submit(self._options.prompt or ""))
                elif door.is_due:
                    await self._follow(door, door.go_on())
                else:
                    raise SessionError(f"{_NO_PROMPT} No call waits in this session.")
        except ToolpostError as error:
            _complain(str(error))
            await self._out.show(_failure(str(error), self._options.session_id or ""))
            return 2 if isinstance(error, SettingsError) else 1
        return self._code

    async def _serve(self, door: SessionDoor) -> None:
        if self._options.prompt:
            door.enqueue(self._options.prompt)
        async with asyncio.TaskGroup() as group:
            listener = group.create_task(self._listen(door))
            if door.is_due and not door.queued():  # a call that waits runs once the program has said how it is to
                await _first(self._heard, listener)
            while self._ending.code is None and await _is_due(door, listener):
                await self._follow(door, door.go_on())
            listener.cancel()

    async def _listen(self, door: SessionDoor) -> None:
        number = 0
        async for line in pipes.lines(pipes.descriptor(sys.stdin)):
            number += 1
            item = parse(line)
            if isinstance(item, Control):
                await self._tell(door, await answer(item, door))
            elif isinstance(item, Prompt):
                item = _enqueued(door, item)
            self._heard.set()
            if isinstance(item, Bad):
                self._code = 1
                text = f"Line {number} of standard input is left out: {item.reason}."
                await self._tell(door, Notice(text, "error", "bad_input_line", {"line": number}))

    async def _tell(self, door: SessionDoor, notice: Notice) -> None:
        """Show a line of our own in its place: behind what the turn that runs has shown by now."""
        if not door.tell(notice):
            await self._show(notice)

    async def _follow(self, door: SessionDoor, events: AsyncIterator[SessionEvent]) -> None:
        """Show a turn to its end."""
        self._ending.turn = door
        try:
            async for event in events:
                await self._show(event)
        finally:
            self._ending.turn = None

    async def _show(self, event: SessionEvent) -> None:
        if isinstance(event, Notice) and event.text and (event.level != "info" or self._options.verbose):
            _complain(event.text, event.level)
        if isinstance(event, Streaming) and isinstance(event.event, Retrying):
            self._tell_wait(event.event)
        if isinstance(event, RunResult):
            self._code = 1 if event.is_error else 0
            if event.is_error and self._options.output_format == "text":
                _complain(" ".join([why_it_failed(event), *what_helps(event)]))
        await self._out.show(event)

    def _tell_wait(self, event: Retrying) -> None:
        """Say why nothing happens; stream-json has a line for it."""
        if self._options.output_format != "stream-json":
            wait = f"{event.delay:.0f}" if event.delay >= 1 else f"{event.delay:.1f}"
            _complain(f"{event.error.rstrip('.')}; retrying in {wait} s ({event.attempt}/{event.of})", "warning")


async def _first(heard: asyncio.Event, listener: Task[None]) -> None:
    """Wait for the first line, or for the end of all."""
    waiting = asyncio.ensure_future(heard.wait())
    try:
        await asyncio.wait({waiting, listener}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        waiting.cancel()


async def _is_due(door: SessionDoor, listener: Task[None]) -> bool:
    """Wait for the next turn that is due; False once nothing is and nobody writes any more."""
    due = asyncio.ensure_future(door.due())
    try:
        await asyncio.wait({due, listener}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        due.cancel()
    return door.is_due


def _enqueued(door: SessionDoor, prompt: Prompt) -> Bad | None:
    """Let a prompt wait for its turn; returns what is wrong with it, if anything is."""
    try:
        door.enqueue(prompt.content, priority=prompt.priority, message_id=prompt.uuid)
    except SessionError as error:
        return Bad(str(error).removesuffix("."))
    return None


def _failure(text: str, session_id: str) -> RunResult:
    return RunResult(
        subtype="error_during_execution",
        is_error=True,
        text=text,
        session_id=session_id,
        terminal_reason="turn_setup_failed",
        usage=Usage(),
        errors=(text,),
    )
