"""Compaction that comes by itself, against the Messages API: the standard set's strategies, real transcripts and resumes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from compacting import FULL, HANDOVER, TOO_LONG, asks_for_summary, opened, pictures, read, sent, summaries, without
from fake_session import of_type, result_of, run, texts
from mock_messages_api import MockMessagesApi, Request, Step, error, repeat, thinking, turn

from toolpost import Notice


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    """The provider looks for its key in the environment of the process."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "test")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = (tmp_path / "project").resolve()
    folder.mkdir()
    return folder


async def test_a_conversation_over_its_threshold_goes_on_from_a_summary(project: Path) -> None:
    (project / "sea.txt").write_text("salt\n")
    script: list[Step] = [turn(read(project / "sea.txt"), usage=FULL), HANDOVER, "Done."]
    async with MockMessagesApi(script) as api, opened(api, project) as session:
        events = await run(session, "Count the sea.")
    assert [asks_for_summary(request) for request in api.requests] == [False, True, False]
    assert result_of(events).text == "Done."
    assert "The user wants the sea counted." in sent(api.requests[2])
    assert "Count the sea." in sent(api.requests[2])
    assert "compact_boundary" in [notice.kind for notice in of_type(events, Notice)]


async def test_a_batch_of_calls_is_never_torn(project: Path) -> None:
    """Case 14: the mock refuses a request with half a pair, and leaving it then fails."""
    for name in "abc":
        (project / name).write_text(f"{name}\n")
    batch = turn(thinking("Three at once."), *(read(project / name) for name in "abc"), usage=FULL)
    async with MockMessagesApi([batch, HANDOVER, "Done."]) as api, opened(api, project) as session:
        events = await run(session, "Read all three.")
    assert result_of(events).text == "Done."
    assert len(summaries(api)) == 1


async def test_the_request_for_a_summary_reads_the_prompt_cache(project: Path) -> None:
    (project / "sea.txt").write_text("salt\n" * 400)
    script: list[Step] = [turn(read(project / "sea.txt"), usage=FULL), HANDOVER, "Done."]
    async with MockMessagesApi(script) as api, opened(api, project) as session:
        await run(session, "Count the sea.")
    first, summary = api.requests[:2]
    assert summary.body["system"] == first.body["system"]
    assert summary.body["tools"] == first.body["tools"]
    assert summary.cache.read >= first.cache.created


async def test_a_summary_that_is_too_long_itself_leaves_out_the_oldest_rounds(project: Path) -> None:
    """Case 16, which passes."""
    (project / "sea.txt").write_text("salt\n" * 400)
    reads: list[Step] = [turn(read(project / "sea.txt")) for _ in range(5)]
    script: list[Step] = [*reads, turn(read(project / "sea.txt"), usage=FULL), TOO_LONG, TOO_LONG, HANDOVER, "Done."]
    async with MockMessagesApi(script) as api, opened(api, project, settings=without("micro")) as session:
        events = await run(session, "Count the sea.")
    sizes = [len(sent(request)) for request in summaries(api)]
    assert sizes == sorted(set(sizes), reverse=True)
    assert len(sizes) == 3
    assert result_of(events).text == "Done."


async def test_a_service_that_takes_nothing_gets_few_requests_and_the_session_can_be_resumed(project: Path) -> None:
    """Case 16, which does not pass."""
    (project / "sea.txt").write_text("salt\n" * 400)

    reads: list[Step] = [turn(read(project / "sea.txt")) for _ in range(3)]
    script: list[Step] = [*reads, turn(read(project / "sea.txt"), usage=FULL), *repeat(TOO_LONG, 20)]
    async with MockMessagesApi(script) as api, opened(api, project) as session:
        events = await run(session, "Count the sea.")
        path = session.transcript_path
    assert result_of(events).is_error
    assert len(summaries(api)) <= 5
    bodies = [sent(request) for request in api.requests]
    assert len(set(bodies)) == len(bodies)
    assert path is not None
    async with MockMessagesApi(["Back again."]) as later, opened(later, project, resume=str(path)) as session:
        assert result_of(await run(session, "Go on.")).text == "Back again."


async def test_pictures_are_named_in_the_request_for_a_summary(project: Path) -> None:
    """Case 17."""
    prompt = [*pictures(30, 1_000_000), {"type": "text", "text": "What is on them?"}]
    script: list[Step] = [turn("The sea.", usage=FULL), HANDOVER, "Done."]
    async with MockMessagesApi(script) as api, opened(api, project, settings=without("micro")) as session:
        _ = [event async for event in session.submit(prompt)]
        events = await run(session, "Sure?")
    (summary,) = summaries(api)
    assert len(json.dumps(summary.body)) < 1_000_000
    assert "[image]" in sent(summary)
    assert result_of(events).text == "Done."


async def test_a_request_of_too_many_bytes_goes_again_without_old_pictures(project: Path) -> None:
    too_large = error(413, "request_too_large", "Request exceeds the maximum size")
    prompt = [*pictures(10, 10_000), {"type": "text", "text": "What is on them?"}]
    async with MockMessagesApi(["The sea.", too_large, "Done."]) as api, opened(api, project) as session:
        _ = [event async for event in session.submit(prompt)]
        events = await run(session, "Sure?")
    assert [sent(request).count("image/png") for request in api.requests] == [10, 10, 5]
    assert result_of(events).text == "Done."


async def test_a_request_that_is_too_long_is_answered_after_a_compaction(project: Path) -> None:
    """Case 18: three requests, none of them twice."""
    talk: list[Step] = [turn("It is salt."), TOO_LONG, HANDOVER, "Done."]
    async with MockMessagesApi(talk) as api, opened(api, project) as session:
        await run(session, "What is in the sea? " + "Think. " * 30_000)
        events = await run(session, "Count it.")
    assert [asks_for_summary(request) for request in api.requests] == [False, False, True, False]
    assert result_of(events).text == "Done."
    assert result_of(events).is_error is False


async def test_one_prompt_that_is_too_long_is_answered_after_a_compaction(project: Path) -> None:
    """Case 18 without anything before it."""
    async with MockMessagesApi([TOO_LONG, HANDOVER, "Done."]) as api, opened(api, project) as session:
        events = await run(session, "Count the sea. " + "Think. " * 30_000 + "Then tell me.")
    assert [asks_for_summary(request) for request in api.requests] == [False, True, False]
    assert len(sent(api.requests[2])) < 50_000
    assert ["Count the sea." in sent(api.requests[2]), "Then tell me." in sent(api.requests[2])] == [True, True]
    assert result_of(events).text == "Done."


async def test_the_first_read_after_a_compaction_shows_the_text(project: Path) -> None:
    """Case 20."""
    sea = project / "sea.txt"
    sea.write_text("salt and water\n")
    script: list[Step] = [
        turn(read(sea)), turn(read(sea), usage=FULL), HANDOVER, turn(read(sea)), turn(read(sea)), "Done.",
    ]  # fmt: skip
    async with MockMessagesApi(script) as api, opened(api, project) as session:
        events = await run(session, "Read it.")
    shown = ["salt and water" in text for text in texts(events).values()]
    assert shown == [True, False, True, False]


async def test_instructions_and_files_stand_behind_the_summary_once(project: Path) -> None:
    """Case 21."""
    (project / "AGENTS.md").write_text("The word is KORALLE.\n")
    (project / "sea.txt").write_text("salt and water\n")
    once: list[Step] = [turn(read(project / "sea.txt"), usage=FULL), HANDOVER, "Done."]
    async with MockMessagesApi([*once, *once]) as api, opened(api, project) as session:
        await run(session, "Count the sea.")
        await run(session, "Count it again.")
    for request in (api.requests[2], api.requests[5]):
        assert sent(request).count("KORALLE") == 1
        assert sent(request).count("salt and water") == 1
        assert sent(request).count("Count the sea.") == 1


async def test_three_failures_switch_a_strategy_off(project: Path) -> None:
    (project / "sea.txt").write_text("salt\n" * 400)
    refused = error(400, "invalid_request_error", "no summaries today")

    def answer(request: Request) -> Any:
        return refused if asks_for_summary(request) else turn("Fine.", usage={"input_tokens": 170_000})

    alone = without("session_memory", "reactive", "micro", "snip")
    async with MockMessagesApi([answer] * 12) as api, opened(api, project, settings=alone) as session:
        told = [notice.text for n in range(6) for notice in of_type(await run(session, f"Go on, {n}."), Notice)]
    assert len(summaries(api)) == 3
    assert any("not tried again unless you ask" in text for text in told)


async def test_nothing_is_sent_that_would_not_fit(project: Path) -> None:
    off = {"autoCompactEnabled": False}
    script: list[Step] = [turn("Long.", usage={"input_tokens": 179_000}), "Never sent."]
    async with MockMessagesApi(script) as api, opened(api, project, settings=json.dumps(off)) as session:
        await run(session, "Count the sea.")
        ended = result_of(await run(session, "More."))
    assert (ended.terminal_reason, ended.is_error) == ("blocking_limit", True)
    assert len(api.requests) == 1
    assert ended.remedies == ("compact", "rewind", "clear")


async def test_instructions_that_fill_the_window_by_themselves_are_named(project: Path) -> None:
    (project / "AGENTS.md").write_text("Keep to these rules.\n" * 60_000)
    async with MockMessagesApi(["Never sent."]) as api, opened(api, project) as session:
        ended = result_of(await run(session, "Count the sea."))
    assert (ended.terminal_reason, len(api.requests)) == ("blocking_limit", 0)
    assert "AGENTS.md" in ended.errors[0]
    assert "`toolpost context show` names it" in ended.errors[0]
