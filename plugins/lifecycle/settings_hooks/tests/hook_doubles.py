"""A session for configured hooks: runners that a test writes, and the kernel's services."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from toolpost import (
    EventBase,
    HookAnswer,
    HookFiring,
    HookJob,
    HookLog,
    HookRunner,
    HookRunners,
    Inbox,
    Origin,
    SessionScope,
)
from toolpost.testing import InboxLog, make_scope
from toolpost_lifecycle_settings_hooks.bridge import listeners_for
from toolpost_lifecycle_settings_hooks.config import TITLES, read_hooks


class Runner(HookRunner):
    """Answers as the hook's entry says under `answer`: with a HookAnswer, or what a function makes of the job."""

    def __init__(self, type: str) -> None:
        self.type = type  # type: ignore[misc]

    async def run(self, job: HookJob, scope: SessionScope) -> HookAnswer:
        answer = job.handler["answer"]
        made: HookAnswer = await answer(job) if callable(answer) else answer
        return made


@dataclass
class Log:
    """A `HookLog` that somebody looks at, unless `wanted` is false."""

    wanted: bool = True
    firings: list[HookFiring] = field(default_factory=list)

    def add(self, firing: HookFiring) -> None:
        self.firings.append(firing)


@dataclass
class Bench:
    """One session with the hooks of `hooks`."""

    folder: Path
    hooks: Mapping[str, Sequence[Mapping[str, Any]]]
    log: Log = field(default_factory=Log)
    inbox: InboxLog = field(default_factory=InboxLog)
    reports: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        services = {HookRunners: self, HookLog: self.log, Inbox: self.inbox}
        self.scope = make_scope(self.folder, services=services, report=self.reports.append)
        found = listeners_for(read_hooks(self.hooks, self.reports.append), self.scope)
        self.listeners = {vars(listener)["toolpost_impl"]["specname"]: listener for listener in found}

    def get(self, type: str) -> HookRunner:
        return Runner(type)

    async def send(self, title: str, event: EventBase, *, agent: str | None = None) -> Any:
        stash = self.scope.stash
        origin = Origin(session_id="s1", cwd=self.folder, project=self.folder, stash=stash, agent_id=agent)
        return await self.listeners[TITLES[title]](replace(event, origin=origin))
