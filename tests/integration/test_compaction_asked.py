"""Compaction that a person asks for, and what they are told of the window: against the Messages API."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from compacting import HANDOVER, compacted, opened, read, sent
from fake_session import of_type, result_of, run
from mock_messages_api import MockMessagesApi, Request, Step, tool_use, turn

from toolpost import Notice, SessionError


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


async def test_a_person_compacts_and_says_what_matters(project: Path) -> None:
    script: list[Step] = ["It is salt. " * 2_000, HANDOVER, "Done."]
    async with MockMessagesApi(script) as api, opened(api, project) as session:
        await run(session, "What is in the sea?")
        events = await compacted(session, "keep the salt")
        usage = await session.context_usage()
        assert result_of(await run(session, "Go on.")).text == "Done."
    assert "keep the salt" in sent(api.requests[1])
    assert [notice.kind for notice in of_type(events, Notice)] == ["compact_boundary"]
    assert "It is salt" not in sent(api.requests[2])
    assert 0 < usage.used < usage.effective == 180_000
    assert sum(category.tokens for category in usage.categories) == pytest.approx(usage.used, abs=5)


@pytest.mark.parametrize(("direction", "kept", "gone"), [("up_to", "Two.", "One."), ("from", "One.", "Two.")])
async def test_a_part_gives_way_to_a_summary(project: Path, direction: Any, kept: str, gone: str) -> None:
    script: list[Step] = ["One. " * 400, "Two. " * 400, HANDOVER, "Done.", "Later."]
    async with MockMessagesApi(script) as api, opened(api, project) as session:
        await run(session, "Tell me of one.")
        await run(session, "Tell me of two.")
        _, second = session.sent_prompts()
        await compacted(session, part=(direction, second.id))
        await run(session, "Go on.")
        path = session.transcript_path
    after = sent(api.requests[3])
    assert [kept in after, gone in after, "The user wants the sea counted." in after] == [True, False, True]
    async with MockMessagesApi(["Later."]) as later, opened(later, project, resume=str(path)) as session:
        await run(session, "More.")
    assert sent(later.requests[0]).startswith(after[:-1].replace(', "cache_control": {"type": "ephemeral"}', "")[:200])


async def test_nothing_to_compact_is_said(project: Path) -> None:
    async with MockMessagesApi(["Salt."]) as api, opened(api, project) as session:
        with pytest.raises(SessionError, match="no conversation yet"):
            await compacted(session)
        await run(session, "What is in the sea?")
        with pytest.raises(SessionError, match="short enough"):
            await compacted(session)
    assert len(api.requests) == 1


async def test_a_person_is_told_where_results_were_only_cleared(project: Path) -> None:
    (project / "sea.txt").write_text("salt\n" * 400)
    config = {"micro": {"enabled": True, "config": {"keep": 0}}, "summary": False, "session_memory": False}
    script: list[Step] = [turn(read(project / "sea.txt")), "Salt."]
    async with (
        MockMessagesApi(script) as api,
        opened(api, project, settings=json.dumps({"plugins": config})) as session,
    ):
        await run(session, "Count the sea.")
        (told,) = of_type(await compacted(session), Notice)
    assert "cleared by micro" in told.text


CODE = "def add(first: int, second: int) -> int:\n    return first + second  # both are whole numbers\n\n\n"
PROSE = "The water of the sea is salt, and nobody has counted all of it yet; the north is colder than the south.\n"
ROWS = json.dumps([{"name": f"sea {number}", "depth": number * 7, "salt": True} for number in range(40)])


def counted(value: object, letters: int) -> int:
    """Count as a service might: parts of words, and each sign."""
    match value:
        case Mapping():
            return sum(counted(key, letters) + counted(item, letters) + 2 for key, item in value.items())
        case list():
            return sum(counted(item, letters) + 1 for item in value)
    return len(re.findall(rf"\w{{1,{letters}}}|[^\w\s]", str(value)))


@pytest.mark.parametrize("letters", [4, 6, 9])
@pytest.mark.parametrize("text", [CODE * 120, PROSE * 120, f"{ROWS}\n" * 9], ids=["code", "prose", "json"])
async def test_the_estimate_is_within_5_percent_after_three_turns(project: Path, text: str, letters: int) -> None:
    call = {"file_path": str(project / "notes.txt")}
    answers: list[Any] = [(tool_use("Read", call), call), (PROSE * 20, PROSE * 20)]

    def answer(request: Request) -> Any:
        prompt = counted({key: request.body[key] for key in ("system", "tools", "messages")}, letters)
        part, said = answers[len(api.requests) % 2 - 1]
        return turn(part, usage={"input_tokens": prompt, "output_tokens": counted(said, letters)})

    errors: list[float | None] = []
    async with MockMessagesApi([answer] * 20) as api, opened(api, project) as session:
        for number in range(6):
            (project / "notes.txt").write_text(f"{number}\n{text}")
            await run(session, f"Read it, {number}.")
            errors.append((await session.context_usage()).error)
    assert max(abs(error or 1.0) for error in errors[3:]) <= 0.05, errors
