"""Doubles of a host and its session, which play a script."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from uuid import uuid4

from toolpost import (
    LaunchOptions,
    ModelInfo,
    Queued,
    RunResult,
    SessionError,
    SessionEvent,
    SessionStarted,
    Streaming,
    TextDelta,
    ToolpostError,
    Usage,
)
from toolpost.testing import FakeSession

SESSION = "5e551011-0000-4000-8000-000000000001"


def started() -> SessionStarted:
    return SessionStarted(
        session_id=SESSION,
        cwd=Path("/project"),
        model="model-1",
        tools=("Read", "Bash"),
        permission_mode="default",
        credential_source="ANTHROPIC_API_KEY",
        version="1.2.3",
    )


def result(**changes: Any) -> RunResult:
    plain = RunResult(
        subtype="success",
        is_error=False,
        text="All done.",
        session_id=SESSION,
        terminal_reason="completed",
        stop_reason="end_turn",
        turns=1,
        usage=Usage(10, 20),
    )
    return replace(plain, **changes)


@dataclass
class ScriptedDoor(FakeSession):
    """A session that answers each prompt with the same events; `hold` makes it wait for an interrupt first."""

    hold: bool = False
    calls: list[Any] = field(default_factory=list)
    id: str = SESSION
    cwd: Path = Path("/project")
    model: ModelInfo = field(default_factory=lambda: ModelInfo(id="model-1"))
    running: asyncio.Event = field(default_factory=asyncio.Event)
    interrupted: asyncio.Event = field(default_factory=asyncio.Event)
    known: list[str] = field(default_factory=list)

    def new_id(self) -> str:
        return str(uuid4())

    async def submit(self, prompt: Any, *, message_id: str | None = None) -> AsyncIterator[SessionEvent]:
        self.prompts.append(prompt)
        yield started()
        if self.hold:
            self.running.set()
            yield Streaming(TextDelta("I begin"))
            await self.interrupted.wait()
            self.interrupted.clear()
            yield result(subtype="error_during_execution", is_error=True, text="", terminal_reason="aborted_streaming")
            return
        for event in self.events:
            yield event

    def enqueue(self, prompt: Any, *, priority: Any = "next", message_id: str | None = None) -> Queued:
        if message_id is not None and message_id in self.known:
            raise SessionError(f"The session has a message {message_id} already.")
        queued = Queued(id=message_id or f"id-{len(self.known)}", content=prompt, priority=priority)
        self.known.append(queued.id)
        self.waiting.append(queued)
        self.arrived.set()
        if priority == "now":
            self.interrupt("interrupt")
        return queued

    def interrupt(self, reason: str = "user_cancel") -> None:
        self.calls.append(("interrupt", reason))
        self.interrupted.set()

    async def set_model(self, name: str, *, source: str = "command") -> ModelInfo:
        assert source == "sdk", "a program that drives us is told apart from a person"
        self.calls.append(("set_model", name))
        return ModelInfo(id=name)

    def set_permission_mode(self, mode: str) -> None:
        self.calls.append(("set_permission_mode", mode))


@dataclass
class ScriptedHost:
    options: LaunchOptions
    door: ScriptedDoor
    refusal: ToolpostError | None = None
    asked: list[Any] = field(default_factory=list)
    version: str = "1.2.3"

    def untrusted(self) -> Sequence[str]:
        raise AssertionError("nobody is there to be asked")

    def trust(self, trusted: bool) -> None:
        raise AssertionError("nobody is there to answer")

    @asynccontextmanager
    async def open(self, options: LaunchOptions, ask: Any = None) -> AsyncIterator[ScriptedDoor]:
        self.asked.append(ask)
        if self.refusal is not None:
            raise self.refusal
        yield self.door

    async def launch(self, frontend: str, options: LaunchOptions) -> int:
        raise AssertionError("headless launches nothing")
