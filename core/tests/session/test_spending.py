"""What a session may use, held by everything that it starts, and listed by who used it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import date
from pathlib import Path
from typing import Any, ClassVar

import pytest
from fake_session import fake_session, group, of_type, result_of, run

from toolpost import (
    AgentExecutor,
    AgentRequest,
    AgentResult,
    BudgetLimits,
    ModelInfo,
    ModelRequest,
    Notice,
    Price,
    ProviderError,
    SessionScope,
    Stop,
    StreamEvent,
    Tool,
    ToolContext,
    ToolResult,
    ToolUse,
    Usage,
    tool,
)
from toolpost.services import Models
from toolpost.testing import FakeModel


class Priced(FakeModel):
    """Each request has ten thousand tokens and costs a dollar."""

    def model(self, name: str) -> ModelInfo:
        price = Price(input=100, output=0, cache_write=0, cache_read=0, as_of=date(2026, 1, 1))
        return ModelInfo(id=name, price=price)

    async def stream(self, request: ModelRequest) -> AsyncIterator[StreamEvent]:
        async for event in super().stream(request):
            yield event._replace(usage=Usage(input_tokens=10_000)) if isinstance(event, Stop) else event


class Here(AgentExecutor):
    isolation: ClassVar[str] = "none"

    async def run(
        self,
        request: AgentRequest,
        scope: SessionScope,
        run_here: Callable[[AgentRequest, SessionScope], Awaitable[AgentResult]],
    ) -> AgentResult:
        return await run_here(request, scope)


class Delegate(Tool[dict[str, Any]]):
    """Runs a sub-agent and returns what it said, or why it ended."""

    name = "delegate"
    input_schema = {"type": "object"}

    async def call(self, input: dict[str, Any], ctx: ToolContext, progress: Any) -> ToolResult:
        result = await ctx.agents.run(AgentRequest(prompt="Look.", agent_type="looker"))
        return ToolResult(result.error or str(result.content[0]["text"]))


@tool
async def wonder(purpose: str, ctx: ToolContext) -> str:
    """Ask the model something."""
    try:
        question: Any = {"role": "user", "content": "Why? " * 2_000}
        return await ctx.service(Models).ask(ModelRequest(model="", messages=[question], purpose=purpose))
    except ProviderError as error:
        return f"{error.kind}: {error}"


@tool(read_only=True)
async def look() -> str:
    """Look."""
    return "seen"


HERE = group("executors", Here())
DELEGATE = ToolUse("t1", "delegate", {})
LOOK = ToolUse("t2", "look", {})


def results(model: FakeModel) -> str:
    return str(model.requests[-1].messages)


async def test_costs_are_listed_by_who_caused_them(tmp_path: Path) -> None:
    model = Priced(DELEGATE, "I looked.", ToolUse("t3", "wonder", {"purpose": "hook"}), "Because.", "Done.")
    async with fake_session(tmp_path, model, Delegate(), wonder, HERE) as session:
        result = result_of(await run(session))
        lines = {line.spender: line.requests for line in session.costs()}

    assert lines == {"main": 3, "agent: looker": 1, "hook": 1}
    assert result.cost_usd == pytest.approx(5.0)
    assert result.model_usage["fake-model"]["costUSD"] == pytest.approx(5.0), (
        "of one model there is one line for programs"
    )


@pytest.mark.requirement("budget.one_for_all")
async def test_a_sub_agent_uses_up_its_parents_budget_and_is_ended_by_it(tmp_path: Path) -> None:
    model = Priced(DELEGATE, *[LOOK._replace(id=f"a{number}") for number in range(9)])
    async with fake_session(tmp_path, model, Delegate(), look, HERE, max_budget_usd=3.5) as session:
        result = result_of(await run(session))

    assert result.terminal_reason == "max_budget"
    assert result.cost_usd == pytest.approx(3.0)
    assert len(model.requests) == 3, "one of the parent, two of its agent"


@pytest.mark.requirement("budget.one_for_plugins")
async def test_what_a_plugin_asks_is_refused_where_what_is_left_does_not_pay_its_prompt(tmp_path: Path) -> None:
    model = Priced(ToolUse("t1", "wonder", {"purpose": "hook"}), "Done.")
    async with fake_session(tmp_path, model, wonder, max_budget_usd=1.2) as session:
        await run(session)

    assert [request.purpose for request in model.requests] == ["main"], "2,000 words cost more than 20 cents"


async def test_a_request_that_was_answered_is_held_back_no_longer_while_its_calls_run(tmp_path: Path) -> None:
    left: list[BudgetLimits] = []

    @tool(read_only=True)
    async def count() -> str:
        """Count what is left, once the answer is paid."""
        while not session.costs():  # noqa: ASYNC110 - the account has no events
            await asyncio.sleep(0)
        left.append(session.budget_left())
        return "counted"

    model = Priced(ToolUse("t1", "count", {}), "Done.")
    async with fake_session(tmp_path, model, count, max_budget_usd=10) as session:
        await run(session, "Why? " * 2_000)

    assert [round(limits.dollars or 0, 6) for limits in left] == [9.0]


@pytest.mark.requirement("budget.stops_the_run")
async def test_a_budget_of_tokens_ends_a_run_by_name(tmp_path: Path) -> None:
    model = FakeModel(*[LOOK._replace(id=f"t{number}") for number in range(9)])
    async with fake_session(tmp_path, model, look, max_budget_tokens=400) as session:
        assert session.budget_left() == BudgetLimits(tokens=400)
        result = result_of(await run(session))

    assert (result.terminal_reason, result.is_error) == ("max_budget", True)
    assert "of 400 tokens are used, and the next request needs" in result.errors[0]


@pytest.mark.requirement("budget.stops_the_run")
async def test_a_budget_of_seconds_lets_no_further_request_begin(tmp_path: Path) -> None:
    model = FakeModel("Never.")
    async with fake_session(tmp_path, model, max_seconds=1e-9) as session:
        result = result_of(await run(session))

    assert (result.terminal_reason, model.requests) == ("max_budget", [])
    assert "seconds are over" in result.errors[0]


async def test_an_answer_that_is_the_last_one_counts_even_if_it_used_the_budget_up(tmp_path: Path) -> None:
    model = Priced("Done.", "Never.")
    async with fake_session(tmp_path, model, max_budget_usd=0.9) as session:
        first, second = result_of(await run(session)), result_of(await run(session))

    assert (first.subtype, first.text) == ("success", "Done.")
    assert second.terminal_reason == "max_budget"


async def test_a_limit_in_dollars_says_once_that_it_can_not_hold_a_model_without_a_price(tmp_path: Path) -> None:
    async with fake_session(tmp_path, FakeModel("One.", "Two."), max_budget_usd=1.0) as session:
        told = [notice.text for _ in range(2) for notice in of_type(await run(session), Notice)]

    assert ["price" in text for text in told].count(True) == 1
