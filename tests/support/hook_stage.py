"""Real sessions with hooks of settings.json: programs that keep what they were given, and that say what a test wants said.

stage = HookStage(tmp_path, FakeModel(call("echo"), "Done."), [echo])
stage.hook("PostToolUse", matcher="echo")
async with stage.session() as session:
    await record(session, "go")
(given,) = stage.given("PostToolUse")
"""

from __future__ import annotations

import json
import shlex
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from toolpost import (
    CompactionResult,
    CompactionStrategy,
    Context,
    Provider,
    Question,
    Reply,
    Tool,
    ToolContext,
    ToolResult,
    ToolUse,
    tool,
)
from toolpost.services import Emitter
from toolpost.testing import SessionHarness
from toolpost_hook_runner_command import CommandRunner
from toolpost_lifecycle_settings_hooks import SettingsHooks

if TYPE_CHECKING:
    from toolpost import Event
    from toolpost_core.session.session import Session


@tool(read_only=True, concurrency_safe=True)
async def echo(text: str) -> str:
    """Say it."""
    return text


def call(name: str, id: str = "t1", **given: Any) -> ToolUse:
    """Return a call of the model's."""
    return ToolUse(id, name, given)


class Does(Tool[dict[str, Any]]):
    """A tool that does what a test wants done within a call."""

    name = "does"
    input_schema = {"type": "object"}

    def __init__(self, act: Any) -> None:
        self._act = act

    async def call(self, input: dict[str, Any], ctx: ToolContext, progress: Any) -> ToolResult:
        done = await self._act(ctx)
        return done if isinstance(done, ToolResult) else ToolResult("done")


class Sends(Does):
    """A plugin that sends an event through the public API, as the subsystem will that it is of; keeps the answers."""

    def __init__(self, event: Event[Any, Any], value: Any) -> None:
        self.answers: list[Any] = []

        async def send(ctx: ToolContext) -> None:
            self.answers.append(await ctx.service(Emitter).emit(event, value))

        super().__init__(send)


class Summary(CompactionStrategy):
    """Puts a summary in the place of everything, before each request; `seen` are the contexts that it was given."""

    summarizes = True

    def __init__(self) -> None:
        self.seen: list[Context] = []

    async def compact(self, context: Context) -> CompactionResult | None:
        self.seen.append(context)
        return context.result([{"role": "user", "content": "In short: go."}], "In short: go.")


async def says_yes(question: Question) -> Reply:
    """A person who permits everything."""
    del question
    return Reply(allow=True)


@dataclass
class HookStage:
    """A session with configured hooks in `folder/project`."""

    folder: Path
    model: Provider
    plugins: Sequence[object] = ()
    ask: Any = None
    allow: bool = True
    options: Mapping[str, Any] = field(default_factory=dict)
    permissions: Mapping[str, Any] = field(default_factory=dict)
    env: Mapping[str, str] = field(default_factory=dict)
    hooks: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    def hook(self, event: str, then: str = "", *, matcher: str | None = None, **entry: Any) -> None:
        """Configure a program that keeps its input; `then` is what its shell does after that."""
        log = self.folder / f"{event}.jsonl"
        command = f"cat >> {shlex.quote(str(log))}" + (f"; {then}" if then else "")
        group: dict[str, Any] = {"hooks": [{"type": "command", "command": command, **entry}]}
        if matcher is not None:
            group["matcher"] = matcher
        self.hooks.setdefault(event, []).append(group)

    def says(self, event: str, output: Mapping[str, Any], *, matcher: str | None = None, **entry: Any) -> None:
        """Configure a program that keeps its input and prints JSON."""
        self.hook(event, f"printf '%s' {shlex.quote(json.dumps(output))}", matcher=matcher, **entry)

    def specific(self, event: str, *, matcher: str | None = None, **output: Any) -> None:
        """The same, with the fields of hookSpecificOutput."""
        self.says(event, {"hookSpecificOutput": {"hookEventName": event, **output}}, matcher=matcher)

    def given(self, event: str) -> list[dict[str, Any]]:
        """Return what programs got for an event so far."""
        log = self.folder / f"{event}.jsonl"
        return [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()] if log.exists() else []

    @property
    def project(self) -> Path:
        """The session's folder."""
        return self._harness.project

    @asynccontextmanager
    async def session(self) -> AsyncIterator[Session]:
        """Open the session."""
        async with self._harness.session() as session:
            yield cast("Session", session)

    @property
    def _harness(self) -> SessionHarness:
        import os

        return SessionHarness(
            self.folder,
            self.model,
            plugins=[SettingsHooks(), CommandRunner(), *self.plugins],
            ask=self.ask,
            allow=self.allow,
            options=self.options,
            env={"PATH": os.environ["PATH"], **self.env},
            settings={"hooks": self.hooks, "permissions": dict(self.permissions)},
        )
