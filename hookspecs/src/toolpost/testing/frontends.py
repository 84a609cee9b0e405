"""The contract kit of front ends, and a host whose sessions a test writes."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

from toolpost.frontends import Asker, CostLine, SessionDoor
from toolpost.launch import LaunchOptions
from toolpost.providers import ModelInfo, TextDelta, Usage
from toolpost.session_events import AssistantMessage, RunResult, SessionEvent, SessionStarted, Streaming
from toolpost.testing._contract import PluginContract, finish

if TYPE_CHECKING:
    from toolpost.context import AbortReason
    from toolpost.messages import Message
    from toolpost.permissions import PermissionMode, Rule, RuleUpdate


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

    async def submit(self, prompt: str | Sequence[Mapping[str, Any]]) -> AsyncIterator[SessionEvent]:
        """Play the events."""
        self.prompts.append(prompt)
        for event in self.events:
            yield event

    def interrupt(self, reason: AbortReason = "user_cancel") -> None:
        """Keep the reason."""
        self.interrupts.append(reason)

    def set_model(self, name: str) -> ModelInfo:
        """Use another model."""
        self.model = ModelInfo(id=name)
        return self.model

    def set_permission_mode(self, mode: PermissionMode) -> None:
        """Use another mode."""
        self.permission_mode = mode

    def rules(self) -> Sequence[Rule]:
        """No rules."""
        return ()

    def update_rules(self, updates: Sequence[RuleUpdate]) -> None:
        """Keep the updates."""
        self.updates.extend(updates)

    def costs(self) -> Sequence[CostLine]:
        """One model's costs."""
        return (CostLine(model=self.model.id, requests=1, usage=Usage(10, 5), dollars=0.0),)

    async def clear(self) -> None:
        """Count the call."""
        self.cleared += 1

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
        yield self.session


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
        """If this fails: submit options.prompt, print what the model answers, and return 0 for a good RunResult."""
        host = self._host(folder, _result(is_error=False))
        assert finish(self.make().run(host)) == 0
        assert host.session.prompts == ["Say hello."]
        assert "Hello there" in capfd.readouterr().out

    def test_a_run_that_failed_exits_with_1_and_shows_the_error(
        self, folder: Path, capfd: pytest.CaptureFixture[str]
    ) -> None:
        """If this fails: return 1 where RunResult.is_error, and print its errors."""
        host = self._host(folder, _result(is_error=True))
        assert finish(self.make().run(host)) == 1
        shown = capfd.readouterr()
        assert "the model is on fire" in shown.out + shown.err

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
