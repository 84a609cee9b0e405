"""The loop against the Messages API: real HTTP, real files, real processes, the tools of the standard set."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from fake_session import result_of, run, texts
from mock_messages_api import (
    Gate,
    MockMessagesApi,
    Request,
    Step,
    Turn,
    cut,
    error,
    pause,
    raw,
    redacted_thinking,
    thinking,
    tool_use,
    turn,
)
from served_session import following, opened, until

from toolpost import RuleUpdate, ToolFinished, ToolStarted

HALF_A_CALL = (
    b'event: content_block_start\ndata: {"type":"content_block_start","index":1,"content_block":'
    b'{"type":"tool_use","id":"t1","name":"Bash","input":{}}}\n\n'
    b'event: content_block_delta\ndata: {"type":"content_block_delta","index":1,"delta":'
    b'{"type":"input_json_delta","partial_json":"{\\"command\\": \\"echo"}}\n\n'
)


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


@pytest.mark.requirement("executor.starts_while_streaming")
async def test_a_call_has_run_before_the_stream_that_asked_for_it_goes_on(project: Path) -> None:
    gate, made = Gate(), project / "made"
    script: list[Step] = [turn("First", tool_use("Bash", {"command": "touch made"}), pause(gate), "more"), "Done."]
    async with MockMessagesApi(script) as api, opened(api, project) as session, following(session) as events:
        await until(gate.reached.is_set)
        await until(made.exists)
        await until(lambda: any(isinstance(event, ToolFinished) for event in events))
        assert len(api.requests) == 1
        gate.open()

    assert result_of(events).text == "Done."
    assert [block["type"] for block in api.requests[1].body["messages"][1]["content"]] == ["text", "tool_use", "text"]


@pytest.mark.requirement("executor.safe_calls_together")
@pytest.mark.requirement("executor.results_in_order")
async def test_ten_reads_run_and_come_back_in_the_order_of_the_calls(project: Path) -> None:
    for number in range(10):
        (project / f"f{number}.txt").write_text(f"content {number}\n" * (10 - number))
    calls = [tool_use("Read", {"file_path": str(project / f"f{n}.txt")}, id=f"t{n}") for n in range(10)]
    async with MockMessagesApi([turn(*calls), "Done."]) as api, opened(api, project) as session:
        await run(session)

    results = api.requests[1].tool_results
    assert [result["tool_use_id"] for result in results] == [f"t{n}" for n in range(10)]
    assert all(f"content {n}" in str(result["content"]) for n, result in enumerate(results))


async def test_what_one_request_wrote_to_the_cache_the_next_one_reads(project: Path) -> None:
    (project / "a.txt").write_text("a long line of text\n" * 200)
    read = {"file_path": str(project / "a.txt")}
    script: list[Step] = [turn(tool_use("Bash", {"command": f"echo {n}"}), tool_use("Read", read)) for n in range(6)]
    async with MockMessagesApi([*script, "Done.", "Again."]) as api, opened(api, project) as session:
        await run(session, "first")
        await run(session, "second")

    for earlier, later in zip(api.requests, api.requests[1:], strict=False):
        written = earlier.cache.read + earlier.cache.created
        assert written - 1 <= later.cache.read <= written + 1  # the mock rounds
        assert later.cache.uncached == 0
    assert api.requests[0].cache.created > 500


async def test_thinking_goes_back_byte_for_byte_within_a_turn(project: Path) -> None:
    script: list[Step] = [
        turn(thinking("let me see 🦀  "), redacted_thinking("abc"), tool_use("Bash", {"command": "echo hi"})),
        "Done.",
    ]
    async with MockMessagesApi(script) as api, opened(api, project) as session:
        await run(session)

    first, second = api.requests[1].body["messages"][1]["content"][:2]
    assert (first["thinking"], first["type"]) == ("let me see 🦀  ", "thinking")
    assert second == {"type": "redacted_thinking", "data": "abc"}


async def test_bad_calls_in_one_answer_each_get_a_result_and_good_ones_run(project: Path) -> None:
    script: list[Step] = [
        turn(
            tool_use("Bash", raw_json='{"command": "echo', id="t1"),
            tool_use("Bash", raw_json='["echo"]', id="t2"),
            tool_use("Teleport", {"to": "Mars"}, id="t3"),
            tool_use("Bash", {}, id="t4"),
            tool_use("Read", {"file_path": str(project)}, id="same"),
            tool_use("Bash", {"command": "echo fine > fine"}, id="same"),
            tool_use("no such tool, ünd so on" * 5, {}, id="t:7/8"),
        ),
        "Done.",
    ]
    async with MockMessagesApi(script) as api, opened(api, project) as session:
        assert result_of(await run(session)).text == "Done."

    assert (project / "fine").read_text() == "fine\n"
    assert [block.get("is_error", False) for block in api.requests[1].tool_results] == [True] * 5 + [False, True]


@pytest.mark.requirement("executor.one_result_a_call")
@pytest.mark.parametrize("when", ["in text", "in thinking", "in a call", "while a call runs"])
async def test_an_abort_at_any_time_leaves_what_the_service_takes_at_the_next_prompt(project: Path, when: str) -> None:
    gate = Gate()
    parts: dict[str, Turn] = {
        "in text": turn("Half a sentence", pause(gate), "never"),
        "in thinking": turn("So.", thinking("hm"), pause(gate), "never"),
        "in a call": turn("So.", raw(HALF_A_CALL), pause(gate)),
        "while a call runs": turn(tool_use("Bash", {"command": "touch began; sleep 600"}), pause(gate)),
    }
    async with MockMessagesApi([parts[when], "Next."]) as api, opened(api, project) as session:
        async with following(session) as events:
            await until(gate.reached.is_set)
            if when == "while a call runs":
                await until((project / "began").exists)
            session.interrupt()
        assert result_of(events).terminal_reason in ("aborted_streaming", "aborted_tools")
        assert result_of(await run(session, "second")).text == "Next."
        gate.open()

    assert "second" in json.dumps(api.requests[1].body["messages"])


async def test_text_that_was_shown_before_the_line_was_cut_is_kept_once(project: Path) -> None:
    script: list[Step] = [
        turn("A sentence that was shown.", cut()),
        *[error(400, "invalid_request_error", "no")] * 1,
        "Back.",
    ]
    async with MockMessagesApi(script) as api, opened(api, project) as session:
        first = result_of(await run(session))
        await run(session, "again")
        conversation = json.dumps(api.requests[-1].body["messages"])

    assert first.is_error or first.text
    assert conversation.count("A sentence that was shown.") <= 1


@pytest.mark.requirement("transcript.append_only")
async def test_everything_is_on_disk_before_the_next_request_is_answered(project: Path) -> None:
    kept: list[str] = []

    def looks(request: Request) -> str:
        (file,) = (project.parent / "state").glob("projects/*/*.jsonl")
        kept.append(file.read_text(encoding="utf-8"))
        return "Done."

    script: list[Step] = [turn("Now.", tool_use("Bash", {"command": "echo the-result"}, id="t1")), looks]
    async with MockMessagesApi(script) as api, opened(api, project) as session:
        await run(session, "the-prompt")

    lines = [json.loads(line) for line in kept[0].splitlines()]
    assert all(word in kept[0] for word in ("the-prompt", "Now.", "t1", "the-result"))
    assert [line["type"] for line in lines if "uuid" in line] == ["user", "assistant", "assistant", "user"]


@pytest.mark.requirement("permissions.bypass_obeys_rules")
async def test_a_deny_rule_takes_a_tool_away_and_a_specifier_keeps_a_command_from_running(project: Path) -> None:
    script: list[Step] = [turn(tool_use("Bash", {"command": "touch made"}, id="t1")), "Done."]
    options: Any = {"disallowed_tools": ("Bash(touch:*)", "Write")}
    async with MockMessagesApi(script) as api, opened(api, project, **options) as session:
        events = await run(session)

    assert "Write" not in [tool["name"] for tool in api.requests[0].body["tools"]]
    assert texts(events)["t1"].startswith("Permission denied")
    assert not (project / "made").exists()


@pytest.mark.requirement("permissions.bypass_obeys_rules")
async def test_an_ask_rule_holds_where_everything_else_is_let_through(project: Path) -> None:
    script: list[Step] = [turn(tool_use("Bash", {"command": "touch made"}, id="t1")), "Done."]
    asks = json.dumps({"permissions": {"ask": ["Bash(touch:*)"]}})
    async with MockMessagesApi(script) as api, opened(api, project, settings=asks) as session:
        events = await run(session)

    assert "nobody to ask" in texts(events)["t1"]
    assert not (project / "made").exists()


@pytest.mark.requirement("permissions.managed_wins")
async def test_a_rule_of_the_managed_settings_holds_whatever_the_command_line_allows(
    project: Path, tmp_path: Path
) -> None:
    managed = tmp_path / "managed.json"
    managed.write_text(json.dumps({"permissions": {"deny": ["Bash(touch:*)"]}}))
    script: list[Step] = [turn(tool_use("Bash", {"command": "touch made"}, id="t1")), "Done."]
    options: Any = {"allowed_tools": ("Bash",), "env": {"TOOLPOST_MANAGED_SETTINGS": str(managed)}}
    async with MockMessagesApi(script) as api, opened(api, project, **options) as session:
        events = await run(session)

    assert texts(events)["t1"].startswith("Permission denied")
    assert not (project / "made").exists()


@pytest.mark.requirement("permissions.broken_file_keeps_last_rules")
@pytest.mark.parametrize("broken", ['{"permissions": {"deny": ["Bash(touch', "", "[]"])
async def test_a_settings_file_that_breaks_while_a_session_runs_keeps_its_rules_and_is_left_as_it_is(
    project: Path, broken: str
) -> None:
    file = project.parent / "state" / "settings.json"
    file.parent.mkdir()
    file.write_text(json.dumps({"permissions": {"deny": ["Bash(touch:*)"]}}))
    script: list[Step] = [turn(tool_use("Bash", {"command": "touch made"}, id=f"t{n}")) for n in range(3)]
    answers = [step for call in script for step in (call, "Done.")]
    async with MockMessagesApi(answers) as api, opened(api, project) as session:
        told = texts(await run(session))
        file.write_text(broken)
        told |= texts(await run(session))
        session.update_rules([added("Bash(ls:*)")])
        await session.clear()
        told |= texts(await run(session))
        rules = [str(rule) for rule in session.rules()]

    assert [text.split(":")[0] for text in told.values()] == ["Permission denied"] * 3
    assert not (project / "made").exists()
    assert rules == ["Bash(touch:*)", "Bash(ls:*)"]
    assert file.read_text() == broken


def added(rule: str) -> RuleUpdate:
    """Return the update that a person's "always" makes in the user's settings."""
    name, _, content = rule.rstrip(")").partition("(")
    rules = [{"toolName": name, "ruleContent": content}]
    return {"type": "addRules", "behavior": "allow", "destination": "userSettings", "rules": rules}


@pytest.mark.requirement("permissions.unparsed_is_not_allowed")
@pytest.mark.parametrize("command", ["echo $(touch made", "echo 'open", "echo $(touch made)"])
async def test_a_command_that_cannot_be_understood_is_not_covered_by_a_rule_that_allows_its_beginning(
    project: Path, command: str
) -> None:
    script: list[Step] = [turn(tool_use("Bash", {"command": command}, id="t1")), "Done."]
    options: Any = {"mode": "default", "allowed_tools": ("Bash(echo:*)",)}
    async with MockMessagesApi(script) as api, opened(api, project, **options) as session:
        events = await run(session)

    assert texts(events)["t1"].startswith("Permission denied")
    assert not (project / "made").exists()


async def test_without_a_person_and_without_a_rule_nothing_is_changed(project: Path) -> None:
    script: list[Step] = [turn(tool_use("Bash", {"command": "touch made"}, id="t1")), "Done."]
    async with MockMessagesApi(script) as api, opened(api, project, mode="default") as session:
        events = await run(session)

    assert "nobody to ask" in texts(events)["t1"]
    assert not (project / "made").exists()
    assert not any(isinstance(event, ToolStarted) for event in events)


async def test_a_folder_that_bash_moved_to_holds_for_the_next_call(project: Path) -> None:
    (project / "sub").mkdir()
    script: list[Step] = [
        turn(tool_use("Bash", {"command": "cd sub"}), tool_use("Bash", {"command": "touch made"})),
        "Done.",
    ]
    async with MockMessagesApi(script) as api, opened(api, project) as session:
        await run(session)

    assert (project / "sub" / "made").exists()


@pytest.mark.requirement("executor.failing_bash_aborts_siblings")
async def test_a_failing_command_calls_off_the_commands_behind_it(project: Path) -> None:
    script: list[Step] = [
        turn(
            tool_use("Bash", {"command": "exit 3"}, id="t1"),
            tool_use("Bash", {"command": "touch made"}, id="t2"),
            tool_use("Read", {"file_path": str(project / "a.txt")}, id="t3"),
        ),
        "Done.",
    ]
    (project / "a.txt").write_text("still read")
    async with MockMessagesApi(script) as api, opened(api, project) as session:
        events = await run(session)

    assert not (project / "made").exists()
    assert "another call of the same answer failed" in texts(events)["t2"]
    assert "still read" in texts(events)["t3"]


async def test_the_same_folder_through_a_link_continues_the_same_session(project: Path) -> None:
    link = project.parent / "link"
    link.symlink_to(project)
    async with MockMessagesApi(["One.", "Two."]) as api:
        async with opened(api, project) as session:
            await run(session, "first")
        async with opened(api, link, continue_last=True) as session:
            await run(session, "second")

    assert "first" in json.dumps(api.requests[1].body["messages"])


async def test_continuing_in_folders_of_similar_names_takes_each_ones_own_session(project: Path) -> None:
    names = ("a_b", "a-b", "a.b")
    async with MockMessagesApi([*names, *names]) as api:
        for name in names:
            (project / name).mkdir()
            async with opened(api, project, cwd=project / name) as session:
                await run(session, f"in {name}")
        for name in names:
            async with opened(api, project, cwd=project / name, continue_last=True) as session:
                await run(session, "go on")

    for name, request in zip(names, api.requests[3:], strict=True):
        assert [other in json.dumps(request.body["messages"][0]) for other in (f"in {n}" for n in names)] == [
            other == name for other in names
        ]
