"""Doubles of a host and its session for the terminal: each prompt plays the scene of its first word."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from toolpost import (
    Ask,
    AssistantMessage,
    BudgetLimits,
    ConfiguredHook,
    ContextUsage,
    CostLine,
    CostTotals,
    Diff,
    KeptSession,
    LaunchOptions,
    MessageStart,
    ModelInfo,
    Notice,
    PermissionRequest,
    PermissionScope,
    Question,
    Reply,
    Retrying,
    Rule,
    RunResult,
    SessionEvent,
    SessionStarted,
    Stop,
    Streaming,
    TextDelta,
    ToolFinished,
    ToolpostError,
    ToolProgressed,
    ToolStarted,
    Usage,
    UsageCategory,
)
from toolpost.testing import FakeSession

SESSION = "5e551011-0000-4000-8000-000000000001"
ANSWER = """I looked at **two** files:

1. `app.py` is fine
2. `util.py` has a bug

```python
def add(a, b):
    return a - b
```

That is all."""


def result(**changes: Any) -> RunResult:
    plain = RunResult(
        subtype="success",
        is_error=False,
        text="done",
        session_id=SESSION,
        terminal_reason="completed",
        usage=Usage(10, 20),
    )
    return replace(plain, **changes)


def question(tool_name: str = "Bash", suggestions: tuple[Any, ...] = (), **changes: Any) -> Question:
    given = changes.pop("tool_input", {"command": "make clean"})
    here = Path("/project")
    request = PermissionRequest(
        tool_name=tool_name,
        tool_input=given,
        scope=PermissionScope(cwd=here, home=here, project=here),
    )
    decision = Ask("no rule allows it", suggestions=suggestions)
    return Question(request=request, decision=decision, **{"title": tool_name, **changes})


ALWAYS = {
    "type": "addRules",
    "destination": "localSettings",
    "behavior": "allow",
    "rules": [{"toolName": "Bash", "ruleContent": "make:*"}],
}


@dataclass
class Scene:
    """What a prompt's run has at hand."""

    door: ScriptedDoor
    ask: Callable[[Question], Any]

    async def play(self, prompt: str) -> AsyncIterator[SessionEvent]:
        yield SessionStarted(
            session_id=SESSION, cwd=self.door.cwd, model="model-1", tools=("Bash",), permission_mode="default"
        )
        played = getattr(self, prompt.split()[0], self.echo)
        async for event in played(prompt):
            yield event

    async def echo(self, prompt: str) -> AsyncIterator[SessionEvent]:
        for event in text_events(f"You said: {prompt}"):
            yield event
        yield result()

    async def stream(self, prompt: str) -> AsyncIterator[SessionEvent]:
        yield Streaming(MessageStart("msg_1", "model-1"))
        for start in range(0, len(ANSWER), 7):
            yield Streaming(TextDelta(ANSWER[start : start + 7]))
            await asyncio.sleep(0.02)
        yield assistant(ANSWER)
        yield Streaming(Stop("end_turn"))
        yield result()

    async def bash(self, prompt: str) -> AsyncIterator[SessionEvent]:
        reply: Reply = await self.ask(question(suggestions=(ALWAYS,), details="Clean the build folder"))
        self.door.replies.append(reply)
        if reply.stop:
            yield result(is_error=True, subtype="error_during_execution", terminal_reason="aborted_tools")
            return
        text = "cleaned\n" if reply.allow else f"The user said no: {reply.feedback}"
        yield tool_finished("Bash", "make clean", text=text, is_error=not reply.allow)
        yield result()

    async def busy(self, prompt: str) -> AsyncIterator[SessionEvent]:
        asked = asyncio.create_task(self.ask(question()))
        await asyncio.sleep(0)
        yield tool_finished("Read", "b.py", text="b")
        for event in text_events("the end"):
            yield event
        await asked
        yield result()

    async def stopped(self, prompt: str) -> AsyncIterator[SessionEvent]:
        yield result(is_error=True, subtype="error_during_execution", terminal_reason="aborted_streaming")

    async def edit(self, prompt: str) -> AsyncIterator[SessionEvent]:
        given = {"file_path": "app.py", "old_string": "a - b", "new_string": "a + b"}
        reply: Reply = await self.ask(question("Edit", tool_input=given, details="Edit app.py"))
        if reply.allow:
            change = Diff("app.py", "def add(a, b):\n    return a - b\n", "def add(a, b):\n    return a + b\n")
            yield tool_finished("Edit", "app.py", text="Edited app.py", view=change)
        yield result()

    async def run(self, prompt: str) -> AsyncIterator[SessionEvent]:
        yield ToolStarted(tool_use_id="t1", tool_name="Bash", summary="make all", activity="Running make all")
        yield ToolProgressed(tool_use_id="t1", tool_name="Bash", text="cc -c one.c", elapsed=0.1)
        await self.door.interrupted.wait()
        self.door.interrupted.clear()
        yield tool_finished("Bash", "make all", text="Interrupted by the user", is_error=True)
        yield result(is_error=True, subtype="error_during_execution", terminal_reason="aborted_tools")

    async def retry(self, prompt: str) -> AsyncIterator[SessionEvent]:
        yield Streaming(Retrying(3, 10, 4.0, "overloaded", 529))
        await self.door.interrupted.wait()
        yield result(is_error=True, subtype="error_during_execution", terminal_reason="aborted_streaming")

    async def escape(self, prompt: str) -> AsyncIterator[SessionEvent]:
        for event in text_events("before\x1b[2J\x1b]0;owned\x07 after"):
            yield event
        yield tool_finished("Bash", "printf", text="\x1b[31mred\x1b[0m\x9b1;1H plain")
        yield result()

    async def wide(self, prompt: str) -> AsyncIterator[SessionEvent]:
        yield tool_finished("Bash", "echo 漢字かな交じり文" * 8, text="漢字かな交じり文" * 30)
        for event in text_events("結果は" * 40):
            yield event
        yield result()

    async def fail(self, prompt: str) -> AsyncIterator[SessionEvent]:
        yield Notice("The disk is nearly full", "warning")
        yield result(is_error=True, subtype="error_during_execution", terminal_reason="model_error", text="No key")


def assistant(text: str) -> AssistantMessage:
    return AssistantMessage(
        message={"role": "assistant", "content": [{"type": "text", "text": text}]},
        message_id="msg_1",
        model="model-1",
        uuid="u1",
        usage=Usage(),
    )


def text_events(text: str) -> Sequence[SessionEvent]:
    return [Streaming(MessageStart("msg_1", "model-1")), Streaming(TextDelta(text)), assistant(text)]


def tool_finished(name: str, summary: str, **changes: Any) -> ToolFinished:
    return ToolFinished(tool_use_id="t1", tool_name=name, summary=summary, **{"is_error": False, "text": "", **changes})


@dataclass
class ScriptedDoor(FakeSession):
    id: str = SESSION
    cwd: Path = field(default_factory=Path.cwd)
    model: ModelInfo = field(default_factory=lambda: ModelInfo(id="model-1"))
    ask: Any = None
    replies: list[Reply] = field(default_factory=list)
    interrupted: asyncio.Event = field(default_factory=asyncio.Event)
    limited: bool = False

    async def submit(self, prompt: Any, *, message_id: str | None = None) -> AsyncIterator[SessionEvent]:
        self.prompts.append(prompt)
        self.interrupted.clear()
        async for event in Scene(self, self.ask).play(prompt):
            yield event

    async def compact(self, instructions: str = "", *, part: Any = None) -> AsyncIterator[SessionEvent]:
        self.compactions.append((instructions, part))
        yield Notice("The conversation was compacted.", kind="compact_boundary")

    async def context_usage(self) -> ContextUsage:
        kinds = (UsageCategory("System prompt", 6_000), UsageCategory("Prompts", 114_000))
        return ContextUsage(
            model=self.model.id,
            used=120_000,
            window=200_000,
            effective=180_000,
            blocking=177_000,
            auto=167_000,
            categories=kinds,
            error=-0.013,
        )

    def interrupt(self, reason: str = "user_cancel") -> None:
        self.interrupted.set()

    def rules(self) -> Sequence[Rule]:
        return [Rule("Bash", "git *", "allow", "userSettings", "/home/me/.toolpost/settings.json", 4)]

    def hooks(self) -> Sequence[ConfiguredHook]:
        return [ConfiguredHook(event="Stop", what="command: ./bell.sh", source="/home/me/.toolpost/settings.json")]

    def costs(self) -> Sequence[CostLine]:
        return [CostLine(model="model-1", requests=2, usage=Usage(1200, 34), dollars=0.0123)] if self.prompts else []

    def budget_left(self) -> BudgetLimits:
        return BudgetLimits(dollars=0.5) if self.limited else BudgetLimits()

    def totals(self) -> CostTotals:
        return CostTotals(api_seconds=3.0, tool_seconds=1.0, lines_added=2)

    async def reload(self) -> list[str]:
        return ["tools/words is on"]


@dataclass
class ScriptedHost:
    options: LaunchOptions = field(default_factory=LaunchOptions)
    door: ScriptedDoor = field(default_factory=ScriptedDoor)
    refusal: ToolpostError | None = None
    opening: float = 0.0
    version: str = "1.2.3"
    waiting: tuple[str, ...] = ()
    trusted: bool | None = None
    kept: tuple[KeptSession, ...] = ()
    opened: LaunchOptions | None = None

    def sessions(self) -> Sequence[KeptSession]:
        return self.kept

    def untrusted(self) -> Sequence[str]:
        return self.waiting if self.trusted is None else ()

    def trust(self, trusted: bool) -> None:
        self.trusted = trusted

    @asynccontextmanager
    async def open(self, options: LaunchOptions, ask: Any = None) -> AsyncIterator[ScriptedDoor]:
        await asyncio.sleep(self.opening)
        self.opened = options
        if self.refusal is not None:
            raise self.refusal
        self.door.ask = ask or _nobody
        yield self.door

    async def launch(self, frontend: str, options: LaunchOptions) -> int:
        raise AssertionError("the terminal launches nothing")


async def _nobody(question: Question) -> Reply:
    return Reply(allow=False, feedback="nobody can be asked")
