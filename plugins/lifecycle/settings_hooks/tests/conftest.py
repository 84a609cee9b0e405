"""A session whose hooks are answered by functions of the test."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest
from toolpost import EventBase, HookAnswer, HookJob, HookRunner, HookRunners, Origin, Outcome, SessionScope
from toolpost.testing import ServiceMap, make_scope
from toolpost_lifecycle_settings_hooks import SettingsHooks
from toolpost_lifecycle_settings_hooks.config import TITLES

Script = Callable[[HookJob], HookAnswer | Awaitable[HookAnswer]]


class ScriptRunner(HookRunner):
    type: ClassVar[str] = "command"

    def __init__(self, scripts: dict[str, Script | HookAnswer]) -> None:
        self.scripts = scripts
        self.jobs: list[HookJob] = []

    async def run(self, job: HookJob, scope: SessionScope) -> HookAnswer:
        self.jobs.append(job)
        script = self.scripts[job.handler["command"]]
        if isinstance(script, HookAnswer):
            return script
        answer = script(job)
        return await answer if inspect.isawaitable(answer) else answer


class Session:
    """Settings, scripts and what was reported; `send` gives an event to its listener."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.reports: list[str] = []
        self.settings: dict[str, Any] = {}
        self.runner = ScriptRunner({})
        self._listeners: dict[str, Callable[..., Any]] | None = None
        self.scope = make_scope(
            folder,
            report=self.reports.append,
            services={HookRunners: self},
            results_dir=folder / "results",
        )

    def get(self, type: str) -> HookRunner | None:
        return self.runner if type == "command" else None

    def configure(self, event: str, *commands: str, matcher: Any = None, **entry: Any) -> None:
        group: dict[str, Any] = {"hooks": [{"type": "command", "command": command, **entry} for command in commands]}
        if matcher is not None:
            group["matcher"] = matcher
        self.settings.setdefault("hooks", {}).setdefault(event, []).append(group)

    def script(self, **scripts: Script | HookAnswer) -> None:
        self.runner.scripts.update(scripts)

    @property
    def listeners(self) -> dict[str, Callable[..., Any]]:
        if self._listeners is None:
            found = SettingsHooks().listeners(session=replace(self.scope, settings=self.settings))
            self._listeners = {listener.toolpost_impl["specname"]: listener for listener in found}  # type: ignore[attr-defined]
        return self._listeners

    async def send(self, title: str, event: EventBase) -> Any:
        answer: Outcome | None = await self.listeners[TITLES[title]](self.placed(event))
        return answer

    def placed(self, event: EventBase) -> EventBase:
        origin = Origin(session_id="s1", cwd=self.folder, project=self.folder, transcript_path=self.folder / "t.jsonl")
        return replace(event, origin=origin)

    @property
    def ran(self) -> list[str]:
        return [job.handler["command"] for job in self.runner.jobs]


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return Session(tmp_path)
