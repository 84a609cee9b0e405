"""The contract kit of front ends, and a host whose sessions a test writes."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Coroutine, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal
from uuid import UUID

import pytest

from toolpost.errors import MissingService
from toolpost.frontends import Asker, ConfiguredHook, CostLine, CostTotals, KeptSession, SessionDoor
from toolpost.launch import BudgetLimits, LaunchOptions
from toolpost.providers import ModelInfo, TextDelta, Usage
from toolpost.queue import Queued
from toolpost.services import FileRewind, MemoryFiles, Rewound, SentPrompt, TurnChanges
from toolpost.session_events import (
    AssistantMessage,
    Notice,
    PromptTaken,
    RunResult,
    SessionEvent,
    SessionStarted,
    Streaming,
)
from toolpost.testing._contract import PluginContract, finish
from toolpost.usage import ContextUsage

if TYPE_CHECKING:
    from toolpost.context import AbortReason
    from toolpost.messages import Message
    from toolpost.permissions import PermissionMode, Rule, RuleUpdate
    from toolpost.providers import Effort
    from toolpost.queue import Priority


@dataclass
class FakeSession:
    """A SessionDoor that answers each prompt with `events`; prompts, interrupts and changes are kept."""

    events: Sequence[SessionEvent] = ()
    id: str = "test-session"
    cwd: Path = field(default_factory=Path)
    model: ModelInfo = field(default_factory=lambda: ModelInfo(id="test-model"))
    permission_mode: PermissionMode = "default"
    transcript_path: Path | None = None
    messages: Sequence[Message] = ()
    prompts: list[str | Sequence[Mapping[str, Any]]] = field(default_factory=list)
    interrupts: list[AbortReason] = field(default_factory=list)
    updates: list[RuleUpdate] = field(default_factory=list)
    cleared: int = 0
    compactions: list[tuple[str, tuple[Literal["up_to", "from"], str] | None]] = field(default_factory=list)
    rewound: list[str] = field(default_factory=list)
    waiting: list[Queued] = field(default_factory=list)
    arrived: asyncio.Event = field(default_factory=asyncio.Event)
    effort: Effort | None = None
    ids: int = 0
    thinking: list[int | Literal["adaptive", "disabled"] | None] = field(default_factory=list)

    def new_id(self) -> str:
        """Count up."""
        self.ids += 1
        return str(UUID(int=self.ids))

    async def submit(
        self, prompt: str | Sequence[Mapping[str, Any]], *, message_id: str | None = None
    ) -> AsyncIterator[SessionEvent]:
        """Play the events."""
        del message_id
        self.prompts.append(prompt)
        for event in self.events:
            yield event

    def enqueue(
        self,
        prompt: str | Sequence[Mapping[str, Any]],
        *,
        priority: Priority = "next",
        message_id: str | None = None,
    ) -> Queued:
        """Let a prompt wait."""
        name = message_id or f"queued-{len(self.prompts) + len(self.waiting)}"
        self.waiting.append(Queued(id=name, content=prompt, priority=priority))
        self.arrived.set()
        return self.waiting[-1]

    def queued(self) -> Sequence[Queued]:
        """What waits."""
        return tuple(self.waiting)

    def withdraw(self, id: str) -> Queued | None:
        """Take back what waits."""
        found = next((queued for queued in self.waiting if queued.id == id), None)
        if found is not None:
            self.waiting.remove(found)
        return found

    def tell(self, event: SessionEvent) -> bool:
        """No turn runs."""
        del event
        return False

    @property
    def is_due(self) -> bool:
        """Whether something waits."""
        return bool(self.waiting)

    async def due(self) -> None:
        """Return once something waits."""
        while not self.waiting:
            self.arrived.clear()
            await self.arrived.wait()

    async def go_on(self) -> AsyncIterator[SessionEvent]:
        """Play the events for the first that waits."""
        if not self.waiting:
            return
        queued = self.waiting.pop(0)
        yield PromptTaken(queued)
        async for event in self.submit(queued.content, message_id=queued.id):
            yield event

    def interrupt(self, reason: AbortReason = "user_cancel") -> None:
        """Keep the reason."""
        self.interrupts.append(reason)

    async def set_model(self, name: str, *, source: Literal["command", "picker", "sdk"] = "command") -> ModelInfo:
        """Use another model."""
        del source
        self.model = ModelInfo(id=name)
        return self.model

    def set_effort(self, effort: Effort | None) -> None:
        """Use another level."""
        self.effort = effort

    def set_thinking(self, thinking: int | Literal["adaptive", "disabled"] | None) -> None:
        """Keep what was asked for."""
        self.thinking.append(thinking)

    def set_permission_mode(self, mode: PermissionMode) -> None:
        """Use another mode."""
        self.permission_mode = mode

    def rules(self) -> Sequence[Rule]:
        """No rules."""
        return ()

    def hooks(self) -> Sequence[ConfiguredHook]:
        """No hooks."""
        return ()

    def update_rules(self, updates: Sequence[RuleUpdate]) -> None:
        """Keep the updates."""
        self.updates.extend(updates)

    def costs(self) -> Sequence[CostLine]:
        """One model's costs."""
        return (CostLine(model=self.model.id, requests=1, usage=Usage(10, 5), dollars=0.0),)

    def totals(self) -> CostTotals:
        """Nothing took any time."""
        return CostTotals()

    def budget_left(self) -> BudgetLimits:
        """No limits."""
        return BudgetLimits()

    async def clear(self) -> None:
        """Count the call."""
        self.cleared += 1

    async def compact(
        self, instructions: str = "", *, part: tuple[Literal["up_to", "from"], str] | None = None
    ) -> AsyncIterator[SessionEvent]:
        """Keep what was asked for."""
        self.compactions.append((instructions, part))
        yield Notice("It was compacted.", kind="compact_boundary")

    async def context_usage(self) -> ContextUsage:
        """Nothing is used."""
        return ContextUsage(model=self.model.id, used=0, window=200_000, effective=180_000, blocking=177_000)

    def memory(self) -> MemoryFiles:
        """Nothing is kept."""
        raise MissingService("The scripted session keeps no memories.")

    def sent_prompts(self) -> Sequence[SentPrompt]:
        """No prompts."""
        return ()

    async def turn_changes(self) -> Mapping[str, TurnChanges]:
        """No changes."""
        return {}

    async def plan_rewind(self, message_id: str) -> Sequence[FileRewind]:
        """Nothing is to be done."""
        del message_id
        return ()

    async def rewind_files(self, message_id: str, *, force: bool = False) -> Rewound:
        """Keep the id; no files are changed."""
        del force
        self.rewound.append(message_id)
        return Rewound(id="", files=())

    async def rewind_conversation(self, message_id: str) -> str:
        """Keep the id; the prompt was empty."""
        self.rewound.append(message_id)
        return ""

    async def reload(self) -> Sequence[str]:
        """Nothing changes."""
        return ()


@dataclass
class FakeHost:
    """A Host that opens `session` and keeps what it was asked for."""

    options: LaunchOptions = field(default_factory=LaunchOptions)
    session: FakeSession = field(default_factory=FakeSession)
    version: str = "0.0.0"
    asker: Asker | None = None
    launched: list[str] = field(default_factory=list)
    waiting: Sequence[str] = ()
    trusted: bool | None = None
    open_sessions: int = 0
    kept: Sequence[KeptSession] = ()

    def untrusted(self) -> Sequence[str]:
        """Return `waiting` until there is an answer."""
        return self.waiting if self.trusted is None else ()

    def trust(self, trusted: bool) -> None:
        """Keep the answer."""
        self.trusted = trusted

    def sessions(self) -> Sequence[KeptSession]:
        """Return `kept`."""
        return self.kept

    def open(self, options: LaunchOptions, ask: Asker | None = None) -> AbstractAsyncContextManager[SessionDoor]:
        """Open the session."""
        self.options, self.asker = options, ask
        return self._opened()

    async def launch(self, frontend: str, options: LaunchOptions) -> int:
        """Keep the name of the front end."""
        self.options = options
        self.launched.append(frontend)
        return 0

    @asynccontextmanager
    async def _opened(self) -> AsyncIterator[SessionDoor]:
        self.open_sessions += 1
        try:
            yield self.session
        finally:
            self.open_sessions -= 1


class FrontendContract(PluginContract):
    """The suite for a front end that is given a prompt. `options` say how the run was asked for."""

    group = "frontends"
    options: ClassVar[LaunchOptions] = LaunchOptions(prompt="Say hello.")

    @pytest.fixture(autouse=True)
    def nobody_types(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        """Standard input is a real file with nothing in it."""
        with Path(os.devnull).open(encoding="utf-8") as nothing:
            monkeypatch.setattr("sys.stdin", nothing)
            yield

    def test_a_run_that_worked_exits_with_0_and_shows_the_answer(
        self, folder: Path, capfd: pytest.CaptureFixture[str]
    ) -> None:
        """If this fails: submit options.prompt, print the answer, and return 0 for a good RunResult: scripts go by it."""
        host = self._host(folder, _result(is_error=False))
        assert finish(self.make().run(host)) == 0
        assert host.session.prompts == ["Say hello."]
        assert "Hello there" in capfd.readouterr().out

    def test_a_run_that_failed_exits_with_1_and_shows_the_error(
        self, folder: Path, capfd: pytest.CaptureFixture[str]
    ) -> None:
        """If this fails: return 1 where RunResult.is_error, and print its errors: nothing else says what went wrong."""
        host = self._host(folder, _result(is_error=True))
        assert finish(self.make().run(host)) == 1
        shown = capfd.readouterr()
        assert "the model is on fire" in shown.out + shown.err

    def test_it_leaves_no_session_open(self, folder: Path) -> None:
        """If this fails: open it in `async with`, also where the run is cancelled: a session has processes and files."""
        host = self._host(folder, _result(is_error=False))
        assert finish(_open_after(self.make().run(host), host)) == 0, "a session is open after the run"
        host.session = silent = _Silent(folder)
        left = finish(_open_after(self.make().run(host), host, silent.asked))
        assert left == 0, "a session is open after the run was cancelled"

    def _host(self, folder: Path, result: RunResult) -> FakeHost:
        answer: Message = {"role": "assistant", "content": [{"type": "text", "text": "Hello there"}]}
        events: list[SessionEvent] = [
            SessionStarted(
                session_id="test-session", cwd=folder, model="test-model", tools=("Read",), permission_mode="default"
            )
        ]
        if not result.is_error:
            events += [
                Streaming(TextDelta("Hello there")),
                AssistantMessage(
                    message=answer, message_id="msg_1", model="test-model", uuid="u-1", usage=Usage(10, 5)
                ),
            ]
        session = FakeSession((*events, result), cwd=folder)
        return FakeHost(replace(self.options, cwd=folder), session)


class _Silent(FakeSession):
    """Does not answer; `asked` is set with the first prompt."""

    def __init__(self, cwd: Path) -> None:
        super().__init__(cwd=cwd)
        self.asked = asyncio.Event()

    async def submit(
        self, prompt: str | Sequence[Mapping[str, Any]], *, message_id: str | None = None
    ) -> AsyncIterator[SessionEvent]:
        del prompt, message_id
        self.asked.set()
        await asyncio.Event().wait()
        yield _result(is_error=True)


async def _open_after(run: Coroutine[Any, Any, int], host: FakeHost, asked: asyncio.Event | None = None) -> int:
    """Return how many sessions are open after a run, cancelled once it asked: the end of the loop would close them all."""
    running = asyncio.create_task(run)
    if asked is not None:
        asking = asyncio.create_task(asked.wait())
        await asyncio.wait([running, asking], return_when=asyncio.FIRST_COMPLETED)
        asking.cancel()
        running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    return host.open_sessions


def _result(*, is_error: bool) -> RunResult:
    return RunResult(
        subtype="error_during_execution" if is_error else "success",
        is_error=is_error,
        text="" if is_error else "Hello there",
        session_id="test-session",
        terminal_reason="model_error" if is_error else "completed",
        stop_reason=None if is_error else "end_turn",
        turns=1,
        usage=Usage(10, 5),
        errors=("the model is on fire",) if is_error else (),
    )
