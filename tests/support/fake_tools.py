"""Small tools and hooks, and one call of theirs through a whole session."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fake_session import fake_session, listen, of_type, result_of, run

from toolpost import (
    Ask,
    Decision,
    Deny,
    Notice,
    PermissionScope,
    Progress,
    SessionEvent,
    Tool,
    ToolContext,
    ToolFinished,
    ToolResult,
    ToolUse,
    on,
)
from toolpost.events.tool import PreToolUseOutcome
from toolpost.testing import FakeModel


@dataclass(frozen=True)
class EchoInput:
    text: str
    count: int = 1


class Echo(Tool[EchoInput]):
    """Says what it is told; keeps what it was called with."""

    name = "Echo"
    aliases = ("Say",)
    input_model = EchoInput
    max_result_chars = 5_000
    ran: list[EchoInput]

    async def validate_input(self, input: EchoInput, ctx: ToolContext) -> str | None:
        return "The text must not be 'forbidden'." if input.text == "forbidden" else None

    async def call(self, input: EchoInput, ctx: ToolContext, progress: Progress) -> ToolResult:
        self.ran.append(input)
        progress("saying", part=1)
        return ToolResult(input.text * input.count)


class Acts(Tool[EchoInput]):
    """Does what a test gives it."""

    name = "Acts"
    input_model = EchoInput
    act: Any

    async def call(self, input: EchoInput, ctx: ToolContext, progress: Progress) -> ToolResult:
        answer = self.act(ctx)
        answer = await answer if asyncio.iscoroutine(answer) else answer
        return answer if isinstance(answer, ToolResult) else ToolResult(answer)


@dataclass
class Done:
    """What came of one call."""

    text: str
    finished: ToolFinished
    events: Sequence[SessionEvent]
    echo: Echo

    @property
    def ran(self) -> list[str]:
        return [call.text for call in self.echo.ran]

    @property
    def notices(self) -> str:
        return "\n".join(notice.text for notice in of_type(self.events, Notice))


HI = {"text": "hi"}


async def call(
    tmp_path: Path,
    *plugins: object,
    tool: str = "Echo",
    input: Mapping[str, Any] = HI,
    raw: str | None = None,
    **options: Any,
) -> Done:
    """Make one call as the model would, and return what came of it."""
    echo = Echo(ran=[])
    model = FakeModel(ToolUse("toolu_1", tool, dict(input), raw), "Done.")
    async with fake_session(tmp_path, model, echo, *plugins, **options) as session:
        events = await run(session)
    (finished,) = of_type(events, ToolFinished)
    assert result_of(events).terminal_reason
    return Done(finished.text, finished, events, echo)


def pre(decision: Any = None, **fields: Any) -> object:
    """A plugin whose PreToolUse listener always answers so."""
    return listen(on.pre_tool_use, lambda event: PreToolUseOutcome(decision=decision, **fields))


class DeniesText(Echo):
    """As Echo, with an opinion of its own on one text."""

    async def check_permissions(self, input: EchoInput, scope: PermissionScope) -> Decision | None:
        return Deny("that text is off limits") if input.text == "secret" else None


class AsksFirst(Echo):
    """As Echo; asks."""

    async def check_permissions(self, input: EchoInput, scope: PermissionScope) -> Decision | None:
        return Ask("echoes carry far")


async def asked(tmp_path: Path, reply: Any, *plugins: object, **options: Any) -> tuple[Done, list[Any]]:
    """Make a call that asks, and answer so."""
    questions: list[Any] = []

    async def ask(question: Any) -> Any:
        questions.append(question)
        return reply

    tool = AsksFirst(ran=[])
    model = FakeModel(ToolUse("toolu_1", "Echo", {"text": "hi"}), "Done.")
    async with fake_session(tmp_path, model, tool, *plugins, ask=ask, **options) as session:
        events = await run(session)
    (finished,) = of_type(events, ToolFinished)
    return Done(finished.text, finished, events, tool), questions
