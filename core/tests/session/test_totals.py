from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from fake_session import fake_session, result_of, run

from toolpost import CostTotals, ModelInfo, Price, RunResult, ToolUse, Usage
from toolpost.testing import FakeModel
from toolpost_core.loop.ledger import Ledger
from toolpost_core.session.past_costs import lines_of, totals_of
from toolpost_core.session.totals import Totals, totals_in
from toolpost_core.session.usage import json_usage, usage_in
from toolpost_core.tools.calls import CallResult
from toolpost_core.transcripts.kinds import COST

PRICED = ModelInfo(id="priced", price=Price(input=10, output=0, cache_write=0, cache_read=0))
PATCH = [{"lines": [" a", "-b", "+c", "+d"]}, {"lines": ["-e"]}]


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def called(data: Any, duration: float = 1.0) -> CallResult:
    block: Any = {"type": "tool_result", "tool_use_id": "t1", "content": "ok"}
    return CallResult(ToolUse("t1", "Edit", {}), block, data=data, duration=duration)


def test_the_time_of_an_answer_is_told_apart_from_what_its_retries_took() -> None:
    clock = Clock()
    totals = Totals(clock=clock)
    totals.asked()
    clock.now = 2.0  # the first try fails, and four seconds are waited
    totals.retrying(4.0)
    clock.now = 9.0
    totals.answered()
    assert totals.so_far() == CostTotals(api_seconds=9.0, retry_seconds=6.0)


def test_a_request_that_is_made_again_by_the_loop_goes_on_with_the_same_wait() -> None:
    clock = Clock()
    totals = Totals(clock=clock)
    totals.asked()
    clock.now = 3.0
    totals.retrying(1.0)
    clock.now = 4.0
    totals.asked()
    clock.now = 6.0
    totals.answered()
    totals.answered()
    assert totals.so_far() == CostTotals(api_seconds=6.0, retry_seconds=4.0)


def test_a_wait_that_was_called_off_counts_as_far_as_it_was_waited() -> None:
    now = [0.0]
    totals = Totals(clock=lambda: now[0])
    totals.asked()
    now[0] = 1.0
    totals.retrying(30.0)
    now[0] = 3.0
    totals.answered()
    assert (totals.so_far().api_seconds, totals.so_far().retry_seconds) == (3.0, 3.0)


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        ({"structuredPatch": PATCH}, (2, 2)),
        ({"type": "create", "content": "a\nb\n", "structuredPatch": []}, (2, 0)),
        ({"type": "update", "content": "a\nb\n", "structuredPatch": []}, (0, 0)),
        ({"structuredPatch": "none"}, (0, 0)),
        ("text", (0, 0)),
        (None, (0, 0)),
    ],
)
def test_lines_are_counted_where_a_call_tells_of_them(data: Any, lines: tuple[int, int]) -> None:
    totals = Totals()
    totals.called(called(data))
    assert (totals.so_far().lines_added, totals.so_far().lines_removed) == lines


def test_what_a_sub_agent_took_counts_for_its_parent() -> None:
    parent = Totals()
    child = Totals(parent)
    child.called(called({"structuredPatch": PATCH}, 2.0))
    assert (parent.is_own, child.is_own) == (True, False)
    assert parent.so_far() == child.so_far() == CostTotals(tool_seconds=2.0, lines_added=2, lines_removed=2)


def test_an_account_comes_back_and_goes_on() -> None:
    first, ledger = Totals(), Ledger()
    first.called(called({"structuredPatch": PATCH}))
    ledger.add(PRICED, Usage(1_000_000, 5, web_search_requests=2))
    ledger.add(ModelInfo(id="unknown"), Usage(7), spender="title")
    record = json.loads(json.dumps(first.record(ledger)))

    again, now = Totals(), Ledger()
    again.restore(record)
    assert again.so_far() == first.so_far()
    now.add(PRICED, Usage(1_000_000))
    whole = again.whole(now)
    assert whole.dollars == pytest.approx(20)
    line = whole.lines["main", "priced"]
    assert (line.requests, line.usage) == (2, Usage(2_000_000, 5, web_search_requests=2))
    assert whole.lines["title", "unknown"].dollars is None


def test_a_new_conversation_begins_without_what_was_used_before() -> None:
    totals, ledger = Totals(), Ledger()
    ledger.add(PRICED, Usage(1_000_000))
    totals.without(ledger)
    assert totals.whole(ledger).lines == {}
    ledger.add(PRICED, Usage(500_000))
    (line,) = totals.whole(ledger).lines.values()
    assert (line.requests, line.usage) == (1, Usage(500_000))
    assert line.dollars == pytest.approx(5)


@pytest.mark.parametrize("record", [{}, {"apiSeconds": "long", "lines": [1, {"model": 3}], "linesAdded": None}])
def test_a_damaged_record_counts_as_nothing(record: Any) -> None:
    assert totals_in(record) == CostTotals()


def test_usage_is_read_as_it_is_written() -> None:
    for usage in (Usage(), Usage(1, 2, 30, 4), Usage(1, 2, 30, 4, 20, 6)):
        assert usage_in(json_usage(usage)) == usage
    assert usage_in({"input_tokens": "many", "cache_creation": None}) == Usage()


async def test_a_session_that_goes_on_has_what_it_cost_before(tmp_path: Path) -> None:
    async with fake_session(tmp_path, FakeModel("One.")) as session:
        first = result_of(await run(session))
        path = session.transcript_path
        before = session.costs()
    assert path is not None

    async with fake_session(tmp_path, FakeModel("Two."), resume=path) as session:
        assert session.costs() == before
        second = result_of(await run(session))
    assert [line.requests for line in session.costs()] == [2]
    assert sum(_tokens(second)) == 2 * sum(_tokens(first))


async def test_a_copy_and_a_new_conversation_begin_at_nothing(tmp_path: Path) -> None:
    async with fake_session(tmp_path, FakeModel("One.", "Two.")) as session:
        await run(session)
        path = session.transcript_path
        await session.clear()
        assert (session.costs(), session.totals()) == ((), CostTotals())
        await run(session)
        assert [line.requests for line in session.costs()] == [1]
        second = session.transcript_path
    assert path is not None
    assert second is not None

    async with fake_session(tmp_path, FakeModel("Three."), resume=path, fork_session=True) as session:
        assert session.costs() == ()
        copy = session.transcript_path
    assert copy is not None
    whole, parts = totals_of([path, second, copy]), [totals_of([path]), totals_of([second])]
    assert whole.api_seconds == pytest.approx(sum(part.api_seconds for part in parts))
    (line,) = lines_of([path, second, copy], lambda name: ModelInfo(id=name))
    assert (line.requests, line.dollars) == (2, None)


async def test_the_account_is_in_the_transcript_after_each_answer(tmp_path: Path) -> None:
    model = FakeModel(ToolUse("t1", "unknown", {}), "Done.")
    async with fake_session(tmp_path, model) as session:
        await run(session)
        assert session.transcript_path is not None
        records = [json.loads(line) for line in session.transcript_path.read_text().splitlines()]
    kinds = [record["type"] for record in records]
    answers = [index for index, kind in enumerate(kinds) if kind == "assistant"]
    accounts = [record for record in records if record["type"] == COST]
    assert [account["lines"][0]["requests"] for account in accounts[:2]] == [1, 2]
    assert answers[0] < kinds.index(COST) < answers[1]
    assert accounts[-1]["of"] == session.id


def _tokens(result: RunResult) -> list[int]:
    return [int(used["inputTokens"]) + int(used["outputTokens"]) for used in result.model_usage.values()]
