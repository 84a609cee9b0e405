"""What a compaction strategy asks the model on its own account."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from fake_session import fake_session, of_type, result_of, run

from toolpost import (
    CompactionResult,
    CompactionStrategy,
    Context,
    Message,
    ModelInfo,
    ModelRequest,
    Notice,
    Price,
    Stop,
    StreamEvent,
    Usage,
)
from toolpost.testing import FakeModel

LONG = "so much to read " * 2_000


class Summary(CompactionStrategy):
    """Asks for a summary before each request, and leaves the messages."""

    model: str = ""

    async def compact(self, context: Context) -> CompactionResult | None:
        assert context.ask is not None
        question: Message = {"role": "user", "content": "Sum it up."}
        said = await context.ask(ModelRequest(model=self.model, messages=[question], purpose="compaction"))
        last: Message = {"role": "user", "content": f"So far: {said}"}
        return context.result([last])


class Priced(FakeModel):
    """A FakeModel whose requests have ten thousand tokens and cost a dollar, and two of `dear`."""

    def model(self, name: str) -> ModelInfo:
        dollars = 200 if name == "dear" else 100
        return ModelInfo(id=name, price=Price(input=dollars, output=0, cache_write=0, cache_read=0, as_of=date.min))

    async def stream(self, request: ModelRequest) -> AsyncIterator[StreamEvent]:
        async for event in super().stream(request):
            yield event._replace(usage=Usage(input_tokens=10_000)) if isinstance(event, Stop) else event


def purposes(model: FakeModel) -> list[str]:
    return [request.purpose for request in model.requests]


async def test_a_strategy_gets_the_text_of_an_answer_of_the_sessions_model(tmp_path: Path) -> None:
    model = FakeModel("Hello.", "all is well", "Done.")
    async with fake_session(tmp_path, model, Summary()) as session:
        await run(session, LONG)
        result = result_of(await run(session))

    assert result.text == "Done."
    assert [request.model for request in model.requests] == ["fake-model"] * 3
    assert model.requests[2].last_text == "So far: all is well"
    assert model.requests[1].stash is session.stash


@pytest.mark.requirement("budget.one_for_plugins")
async def test_what_it_costs_counts_in_the_sessions_budget_and_record(tmp_path: Path) -> None:
    model = Priced("Hello.", "a summary", "Done.")
    async with fake_session(tmp_path, model, Summary(model="dear"), max_budget_usd=10) as session:
        await run(session, LONG)
        result = result_of(await run(session))
        path = session.transcript_path

    assert result.cost_usd == pytest.approx(4.0)
    assert {name: used["costUSD"] for name, used in result.model_usage.items()} == {
        "dear": pytest.approx(2.0),
        "fake-model": pytest.approx(2.0),
    }
    assert path is not None
    records = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    assert [record["model"] for record in records if record["type"] == "answer-usage"] == [
        "fake-model",
        "dear",
        "fake-model",
    ]


@pytest.mark.requirement("budget.one_for_plugins")
async def test_a_budget_that_it_used_up_ends_the_run_before_the_next_request(tmp_path: Path) -> None:
    model = Priced("Hello.", "a summary", "Never.")
    async with fake_session(tmp_path, model, Summary(), max_budget_usd=2) as session:
        await run(session, LONG)
        first = result_of(await run(session))
        second = result_of(await run(session))

    assert (first.terminal_reason, first.subtype) == ("max_budget", "error_max_budget_usd")
    assert (second.terminal_reason, purposes(model)) == ("max_budget", ["main", "compaction"])


@pytest.mark.requirement("budget.one_for_plugins")
async def test_of_two_strategies_the_second_does_not_ask_over_the_budget(tmp_path: Path) -> None:
    model = Priced("Hello.", "a summary", "Never.")
    async with fake_session(tmp_path, model, Summary(), Summary(), max_budget_usd=2) as session:
        await run(session, LONG)
        events = await run(session)

    assert purposes(model) == ["main", "compaction"]
    assert ["budget is used up" in notice.text for notice in of_type(events, Notice)] == [True]


async def test_an_interrupt_ends_what_it_asked(tmp_path: Path) -> None:
    asked = asyncio.Event()

    class Slow(FakeModel):
        async def stream(self, request: ModelRequest) -> AsyncIterator[StreamEvent]:
            if request.purpose == "compaction":
                asked.set()
                await asyncio.Event().wait()
            async for event in super().stream(request):
                yield event

    events: list[Any] = []
    model = Slow("Hello.", "Never.")
    async with fake_session(tmp_path, model, Summary()) as session, asyncio.timeout(20):

        async def follow() -> None:
            events.extend(await run(session))

        await run(session, LONG)
        async with asyncio.TaskGroup() as group:
            group.create_task(follow())
            await asked.wait()
            session.interrupt()

    assert result_of(events).terminal_reason == "aborted_streaming"
    assert (of_type(events, Notice), purposes(model)) == ([], ["main"])
