"""What compaction strategies are told of a conversation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fake_session import fake_session, listen, of_type, result_of, run

from toolpost import (
    CompactionResult,
    CompactionStrategy,
    Context,
    ModelRequest,
    Notice,
    Stash,
    StashKey,
    ToolUse,
    on,
    tool,
)
from toolpost.events.turn import BeforeModelOutcome
from toolpost.testing import FakeModel

SEEN = StashKey[int]("test.seen")


class Watches(CompactionStrategy):
    seen: list[tuple[int, Stash]]

    async def compact(self, context: Context) -> CompactionResult | None:
        context.stash[SEEN] = context.stash.get(SEEN, 0) + 1
        self.seen.append((context.used, context.stash))
        return None


@tool(read_only=True)
async def long() -> str:
    """Say much."""
    return "x" * 40_000


async def test_what_came_since_the_last_answer_counts_as_used(tmp_path: Path) -> None:
    watches = Watches(seen=[])
    model = FakeModel(ToolUse("t", "long", {}), "Done.", "Again.")
    async with fake_session(tmp_path, model, long, watches) as session:
        await run(session, "y" * 400)
        await run(session, "z" * 4_000)

    first, second = (used for used, _ in watches.seen)
    assert 10_000 < first < 10_200  # the model counted 15, and the result is longer than that
    assert 500 < second < 1_200  # it counted too little, and the estimate follows that to a half


async def test_a_resumed_session_counts_the_system_prompt_before_the_service_does(tmp_path: Path) -> None:
    watches, prompt = Watches(seen=[]), "word " * 8_000
    async with fake_session(tmp_path, FakeModel("One."), watches, system_prompt=prompt) as session:
        await run(session)
        path = session.transcript_path
    async with fake_session(tmp_path, FakeModel("Two."), watches, resume=path, system_prompt=prompt) as session:
        await run(session)
    ((used, _),) = watches.seen
    assert used > 10_000


async def test_a_strategy_is_not_asked_before_there_is_a_conversation(tmp_path: Path) -> None:
    watches = Watches(seen=[])
    async with fake_session(tmp_path, FakeModel("One.", "Two."), watches) as session:
        await run(session)
        assert watches.seen == []
        await run(session)
        assert len(watches.seen) == 1


async def test_what_a_strategy_keeps_is_there_for_the_next_request(tmp_path: Path) -> None:
    watches = Watches(seen=[])
    async with fake_session(tmp_path, FakeModel("One.", "Two.", "Three."), watches) as session:
        for _ in range(3):
            await run(session)
        assert all(stash is session.stash for _, stash in watches.seen)
        assert session.stash[SEEN] == 2


@pytest.mark.parametrize(("counted", "sent"), [(None, 1), (150_000, 1), (190_000, 0)])
async def test_only_what_is_known_not_to_fit_is_held_back(tmp_path: Path, counted: int | None, sent: int) -> None:
    class Counting(FakeModel):
        async def count_tokens(self, request: ModelRequest) -> int | None:
            return counted

    model = Counting("Read.")
    async with fake_session(tmp_path, model) as session:
        ended = result_of(await run(session, "word " * 160_000))

    assert len(model.requests) == sent
    assert (ended.terminal_reason == "blocking_limit") is (sent == 0)


async def test_a_listener_that_stops_the_turn_before_a_request_stops_it(tmp_path: Path) -> None:
    def hook(event: Any) -> BeforeModelOutcome:
        return BeforeModelOutcome(stop=True, stop_reason="out of hours")

    model = FakeModel("Never asked for.")
    async with fake_session(tmp_path, model, listen(on.before_model, hook)) as session:
        events = await run(session)

    assert model.requests == []
    assert result_of(events).terminal_reason == "hook_stopped"
    assert any("out of hours" in notice.text for notice in of_type(events, Notice))
