"""What comes back of a session beside its conversation, and what can't be gone on with."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from fake_session import fake_session, result_of, run

from toolpost import LaunchOptions, Notice, SessionError
from toolpost.testing import FakeModel
from toolpost_core.api import find_places
from toolpost_core.session.resuming import resumed
from toolpost_core.transcripts.history import read
from toolpost_core.transcripts.kinds import SCHEMA, TITLE
from toolpost_core.transcripts.store import Store
from toolpost_core.transcripts.transcript import Transcript


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


async def begun(tmp_path: Path, mode: Any = None, model: str | None = None) -> Path:
    """Run one prompt in a session, in another permission mode, or with another model."""
    async with fake_session(tmp_path, FakeModel("Hello.")) as session:
        if mode is not None:
            session.set_permission_mode(mode)
        if model is not None:
            await session.set_model(model)
        session.title = "The title"
        await run(session)
        assert session.transcript_path is not None
        return session.transcript_path


@pytest.mark.parametrize(
    ("mode", "then"), [(None, "default"), ("acceptEdits", "acceptEdits"), ("plan", "default"), ("auto", "default")]
)
async def test_the_mode_comes_back_unless_it_has_to_be_chosen_anew(tmp_path: Path, mode: Any, then: str) -> None:
    path = await begun(tmp_path, mode)
    async with fake_session(tmp_path, FakeModel(), resume=path) as session:
        assert (session.permission_mode, session.title) == (then, "The title")
    async with fake_session(tmp_path, FakeModel(), resume=path, permission_mode="dontAsk") as session:
        assert session.permission_mode == "dontAsk"


async def test_a_session_whose_folder_is_taken_is_kept_elsewhere_and_goes_on_from_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / "state").write_text("in its place")
    async with fake_session(tmp_path, FakeModel("Hello.")) as session:
        events = await run(session, "first")
        path = session.transcript_path
    assert path is not None
    assert any(f"--resume {path}" in event.text for event in events if isinstance(event, Notice))

    async with fake_session(tmp_path, FakeModel("Again."), resume=path) as session:
        assert "first" in str(session.messages)
        await run(session, "second")
    assert "second" in str(read(path).messages)


async def test_a_model_that_was_chosen_comes_back_where_the_provider_is_the_same(tmp_path: Path) -> None:
    path = await begun(tmp_path, model="chosen-model")
    async with fake_session(tmp_path, FakeModel(), resume=path) as session:
        assert session.model_in_use.wanted == "chosen-model"
    async with fake_session(tmp_path, FakeModel(), resume=path, provider="other") as session:
        assert session.model_in_use.wanted is None


async def test_a_copy_says_where_each_record_comes_from_and_leaves_the_first_as_it_was(tmp_path: Path) -> None:
    path = await begun(tmp_path)
    before = path.read_bytes()
    async with fake_session(tmp_path, FakeModel("Again."), resume=path, fork_session=True) as session:
        assert result_of(await run(session, "on")).text == "Again."
        copy = session.transcript_path
    assert copy is not None

    first, told = records(path), records(copy)
    copied = [record["forkedFrom"] for record in told if "forkedFrom" in record]
    assert copied == [{"sessionId": path.stem, "messageUuid": record["uuid"]} for record in first if "uuid" in record]
    assert {record["sessionId"] for record in told} == {copy.stem}
    assert [record["customTitle"] for record in told if record["type"] == TITLE] == ["The title (fork)"]
    assert path.read_bytes() == before


def chosen(folder: Path, record: dict[str, Any], **options: Any) -> Any:
    """Resume a session of one record, written by hand."""
    store, launch = Store(folder / "state"), LaunchOptions(cwd=folder, resume="s", **options)
    places = find_places(launch, {"HOME": str(folder), "TOOLPOST_CONFIG_DIR": str(folder / "state")})
    path = store.path(places.project, "s")
    path.parent.mkdir(parents=True, exist_ok=True)
    message = {"role": "user", "content": [{"type": "text", "text": "hi"}]}
    full = {"type": "user", "uuid": "1", "parentUuid": None, "cwd": str(folder), "message": message, **record}
    path.write_text(json.dumps(full) + "\n", encoding="utf-8")
    return resumed(launch, store, places)


def test_what_a_newer_version_wrote_is_only_read(tmp_path: Path) -> None:
    newer = {"schema": SCHEMA + 1}
    with pytest.raises(SessionError, match=r"newer Toolpost.*--fork-session"):
        chosen(tmp_path, newer)
    history = chosen(tmp_path, newer, fork_session=True)
    assert any("newer Toolpost" in warning for warning in history.warnings)
    assert len(history.messages) == 1


def test_records_from_before_they_had_a_form_are_read_as_ever(tmp_path: Path) -> None:
    history = chosen(tmp_path, {})
    assert (len(history.messages), history.warnings, history.newer) == (1, (), False)


def test_an_old_replacement_and_an_old_title_are_understood(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "long"}
    old = [
        {"type": "summary", "summary": "What it was about", "leafUuid": "3"},
        {"type": "user", "uuid": "1", "parentUuid": None, "message": {"role": "user", "content": "go"}},
        {"type": "assistant", "uuid": "2", "parentUuid": "1", "message": {"role": "assistant", "content": [call]}},
        {"type": "user", "uuid": "3", "parentUuid": "2", "message": {"role": "user", "content": [result]}},
        {"type": "content-replacement", "toolUseId": "t1", "content": "short"},
    ]
    path.write_text("".join(json.dumps(record) + "\n" for record in old), encoding="utf-8")
    history = read(path)

    assert history.messages[-1]["content"] == [{**result, "content": "short"}]
    assert history.states["ai-title"]["aiTitle"] == "What it was about"


def test_a_session_that_compacted_in_another_program_goes_on_from_its_summary(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    said = {"role": "user", "content": "old"}
    other = [
        {"type": "user", "uuid": "1", "parentUuid": None, "message": said},
        {"type": "progress", "uuid": "2", "parentUuid": "1"},
        {"type": "system", "subtype": "compact_boundary", "uuid": "3", "parentUuid": None, "logicalParentUuid": "2"},
        {
            "type": "user",
            "uuid": "4",
            "parentUuid": "3",
            "isCompactSummary": True,
            "message": {**said, "content": "sum"},
        },
        {"type": "system", "subtype": "informational", "uuid": "5", "parentUuid": "4"},
        {"type": "user", "uuid": "6", "parentUuid": "5", "message": {**said, "content": "new"}},
        {
            "type": "assistant",
            "uuid": "7",
            "parentUuid": "6",
            "isSidechain": True,
            "message": {**said, "content": "no"},
        },
    ]
    path.write_text("".join(json.dumps(record) + "\n" for record in other), encoding="utf-8")

    assert [block["text"] for message in read(path).messages for block in message["content"]] == ["sum", "new"]  # type: ignore[index, typeddict-item]


def test_of_a_long_session_that_was_never_compacted_the_end_is_read_and_said(tmp_path: Path) -> None:
    file = Transcript(tmp_path / "s.jsonl", "s", "0", pytest.fail)
    file.message("user", {"role": "user", "content": "first"}, tmp_path)
    file.state(TITLE, customTitle="The title")
    for number in range(200):
        role = ("assistant", "user")[number % 2]
        file.message(role, {"role": role, "content": f"{number} " + "x" * 1_000}, tmp_path)
    file.close()
    assert file.path is not None
    history = read(file.path, guard=100_000)

    assert "goes on from its last 0 MB" in history.warnings[0]
    assert history.messages[0]["role"] == "user"
    assert history.messages[-1]["content"][0]["text"].startswith("199 ")  # type: ignore[index, typeddict-item]
    assert (history.title, history.leaf) == ("The title", file.parent)
    assert 60 < len(history.messages) < 100


def test_parallel_calls_and_results_that_another_program_wrote_side_by_side_are_all_there(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"

    def record(kind: str, uuid: str, parent: str | None, block: dict[str, Any], answer: str | None = None) -> str:
        message = {"id": answer, "role": kind, "content": [block]}
        return json.dumps({"type": kind, "uuid": uuid, "parentUuid": parent, "message": message}) + "\n"

    def call(name: str) -> dict[str, Any]:
        return {"type": "tool_use", "id": name, "name": "Bash", "input": {}}

    def result(name: str) -> dict[str, Any]:
        return {"type": "tool_result", "tool_use_id": name, "content": f"out {name}"}

    lines = [
        record("user", "1", None, {"type": "text", "text": "go"}),
        record("assistant", "2", "1", call("ta"), "m1"),
        record("assistant", "3", "2", call("tb"), "m1"),
        record("user", "4", "2", result("ta")),
        record("assistant", "5", "3", call("tc"), "m1"),
        record("user", "6", "3", result("tb")),
        record("user", "7", "5", result("tc")),
        record("user", "8", "1", {"type": "text", "text": "another branch"}),
        record("assistant", "9", "7", {"type": "text", "text": "Done."}, "m2"),
    ]
    path.write_text("".join(lines), encoding="utf-8")
    _, calls, results, done = read(path).messages

    assert calls["content"] == [call("ta"), call("tb"), call("tc")]
    assert results["content"] == [result("ta"), result("tb"), result("tc")]
    assert done["content"] == [{"type": "text", "text": "Done."}]


async def test_a_prompt_that_was_not_sent_is_told_once(tmp_path: Path) -> None:
    path = await begun(tmp_path)
    file = Transcript(path, path.stem, "0", pytest.fail, read(path).leaf)
    waits = {"operation": "enqueue", "queuedId": "q1", "kind": "prompt", "content": "and then the docs"}
    file.side("queue-operation", **waits)
    file.side("queue-operation", **{**waits, "queuedId": "q2", "kind": "context", "content": "a task ended"})
    file.close()
    told = []
    for _ in range(2):
        async with fake_session(tmp_path, FakeModel("Yes."), resume=path) as session:
            told.append([event.text for event in await run(session) if isinstance(event, Notice)])

    assert [text for text in told[0] if "was not sent: 'and then the docs'" in text]
    assert told[1] == []
