"""`tool run`: lines of calls in, lines of results out, one session."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import redirect_stdout, suppress
from itertools import count
from threading import Thread
from typing import TYPE_CHECKING, Any, TextIO

from toolpost import LaunchOptions, Question, Reply, ToolUse
from toolpost_core.api import open_session
from toolpost_core.cli.exits import complain
from toolpost_core.cli.output import print_line

if TYPE_CHECKING:
    from toolpost_core.session.session import Session
    from toolpost_core.tools.calls import CallResult


async def run_lines(lines: TextIO, options: LaunchOptions, *, yes: bool) -> None:
    """Answer each line before the next is read; a bad line gets an error line."""
    numbers, answers = count(1), sys.stdout
    with redirect_stdout(sys.stderr):  # what a tool prints must not come between the answers
        await _answer_lines(lines, answers, options, numbers, yes=yes)


async def _answer_lines(
    lines: TextIO, answers: TextIO, options: LaunchOptions, numbers: Iterable[int], *, yes: bool
) -> None:
    async with open_session(options, _say_yes if yes else None, need_model=False) as session:
        _tell_notices(session)
        while line := await _next_line(lines):
            if not line.strip():
                continue
            try:
                calls = list(_calls(json.loads(line), numbers))
            except (ValueError, RecursionError) as error:
                print_line({"error": f"This line is no call: {error}", "is_error": True}, answers)
                continue
            for answer in await _answers(session, calls):
                print_line(answer, answers)
            _tell_notices(session)


async def _next_line(lines: TextIO) -> str:
    """Read a line beside the loop, in a thread that nothing waits for: an end by a signal must not wait for input."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[str] = loop.create_future()

    def settle(line: str) -> None:
        if not answer.done():
            answer.set_result(line)

    def read() -> None:
        try:
            line = lines.readline()
        except (OSError, ValueError):
            line = ""
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(settle, line)

    Thread(target=read, daemon=True).start()
    return await answer


async def _say_yes(question: Question) -> Reply:
    del question
    return Reply(allow=True)


def _calls(value: Any, numbers: Iterable[int]) -> Iterable[ToolUse]:
    given = value["parallel"] if isinstance(value, dict) and "parallel" in value else [value]
    if not isinstance(given, list) or not given:
        raise ValueError('"parallel" must be a list of calls, with at least one')
    for call, number in zip(given, numbers, strict=False):
        if not isinstance(call, dict) or not isinstance(call.get("tool"), str):
            raise ValueError('a call is an object {"tool": "Read", "input": {...}}')
        if not isinstance(call.get("input", {}), dict):
            raise ValueError(f'"input" of {call["tool"]} must be an object')
        yield ToolUse(str(call.get("id") or f"toolu_run_{number}"), call["tool"], call.get("input", {}))


async def _answers(session: Session, calls: Sequence[ToolUse]) -> list[Mapping[str, Any]]:
    results = await session.run_calls(calls)
    return [_answer(call, result) for call, result in zip(calls, results, strict=True)]


def _answer(call: ToolUse, result: CallResult) -> Mapping[str, Any]:
    permission = None
    if result.ruling is not None:
        verdict = result.ruling.verdict
        permission = {"decision": verdict.behavior, "reason": verdict.reason}
    return {
        "tool": call.name,
        "tool_use_id": call.id,
        "is_error": result.is_error,
        "content": result.block.get("content", ""),
        "permission": permission,
        "duration_ms": round(result.duration * 1000, 1),
    }


def _tell_notices(session: Session) -> None:
    notices, session.parts.notices[:] = list(session.parts.notices), []
    for text in notices:
        complain(f"warning: {text}")
