"""A whole session is recorded as a process, and played by another one without a service, a key or its tools."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from mock_messages_api import Gate, Request, Step, cut, error, pause, text, tool_use, turn
from recorded_place import BYPASS, KEY, STREAM, TOKEN, Place, bash, served
from served_session import until

from toolpost import LaunchOptions, Question, Reply, RunResult, Streaming
from toolpost_core.api import open_session

FOREIGN = "sk-" + "foreign-z9y8x7w6v5u4t3"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path.resolve())


def read(path: str, name: str) -> Any:
    return tool_use("Read", {"file_path": path}, id=name)


def prompts(*said: str) -> str:
    lines = [{"type": "user", "message": {"role": "user", "content": one}} for one in said]
    return "".join(json.dumps(line) + "\n" for line in lines)


def busy_session(place: Place) -> list[Step]:
    """Calls side by side, one that a hook denies, one that nobody can be asked about, one that fails, and a retry."""
    deny = "test \"$(cat | grep -c forbidden)\" = 0 || { echo 'not this one' >&2; exit 2; }"
    hooks = {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": deny}]}]}
    stop = {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}
    place.settings(hooks={**hooks, **stop}, permissions={"allow": ["Bash(sleep *)", "Bash(echo *)", "Read"]})
    notes = str(place.project / "notes.txt")
    return [
        turn(read(notes, "t1"), read(str(place.project / "missing.txt"), "t2"), bash("sleep 0.1; echo late", "t3")),
        error(529, "overloaded_error", headers={"retry-after": "0"}),
        turn(bash("echo forbidden", "t4"), bash("rm notes.txt", "t5")),
        turn("That is ", "all: done."),
    ]


def test_a_session_is_played_byte_for_byte_without_a_service(place: Place) -> None:
    with served(*busy_session(place)) as api:
        recorded = place.record(api, *STREAM, "--include-partial-messages", "go")
    played = place.replay("--output-format", "stream-json")

    assert recorded.returncode == 0, recorded.stderr
    assert (played.stdout, played.returncode) == (recorded.stdout, 0), played.stderr
    said = recorded.stdout
    assert "not this one" in said
    assert '"permission_denials":[{' in said
    assert "api_retry" in said
    assert (place.project / "notes.txt").read_text() == "one two\n"


def test_the_order_in_which_calls_ended_is_kept_though_nothing_takes_time_any_more(place: Place) -> None:
    calls = [bash(f"sleep {wait}; echo {name}", name) for name, wait in (("slow", 0.3), ("quick", 0), ("middle", 0.15))]
    place.settings(permissions={"allow": ["Bash"]})
    with served(turn(*calls, read(str(place.project / "notes.txt"), "file")), "Done.") as api:
        recorded = place.record(api, *STREAM, "go")

    assert place.replay("--output-format", "stream-json").stdout == recorded.stdout


def test_text_is_printed_unless_another_format_is_asked_for(place: Place) -> None:
    with served("Hello.") as api:
        recorded = place.record(api, "go")

    assert (recorded.stdout, place.replay().stdout) == ("Hello.\n", "Hello.\n")


def test_several_prompts_are_played_one_after_the_other(place: Place) -> None:
    with served("First.", "Second.") as api:
        recorded = place.record(api, *STREAM, "--input-format", "stream-json", input=prompts("one", "two"))
    played = place.replay("--output-format", "stream-json")

    assert (played.stdout, played.returncode) == (recorded.stdout, 0), played.stderr
    assert recorded.stdout.count('"type":"result"') == 2


def test_an_answer_that_broke_off_breaks_off_again(place: Place) -> None:
    with served(turn("Half of a sen", cut()), "A whole sentence.") as api:
        recorded = place.record(api, *STREAM, "go")

    assert place.replay("--output-format", "stream-json").stdout == recorded.stdout


def test_a_run_that_ended_in_an_error_is_played_to_the_same_error(place: Place) -> None:
    with served(error(400, "invalid_request_error", "the request is wrong")) as api:
        recorded = place.record(api, *STREAM, "go")
    played = place.replay("--output-format", "stream-json")

    assert recorded.returncode == 1
    assert (played.stdout, played.returncode) == (recorded.stdout, 0), played.stderr


def test_the_end_of_a_command_in_the_background_comes_where_it_came(place: Place) -> None:
    place.settings(permissions={"allow": ["Bash"]})
    behind = tool_use("Bash", {"command": "echo from behind", "run_in_background": True}, id="t1")
    told: list[str] = []

    def until_told(request: Request) -> Any:
        """Let the model look again until it was told."""
        told[:] = [part for part in json.dumps(request.body["messages"]).split("task-notification") if part][1:]
        return "It came." if told else turn(bash("sleep 0.1", f"t{len(request.body['messages'])}"))

    with served(turn(behind), *[until_told] * 20) as api:
        recorded = place.record(api, *STREAM, "go")
    played = place.replay("--output-format", "stream-json")

    assert (played.stdout, played.returncode) == (recorded.stdout, 0), played.stderr
    assert "It came." in recorded.stdout


# What does not fit any more.


def test_a_changed_system_prompt_misses_and_is_shown(place: Place) -> None:
    with served("Hello.") as api:
        place.record(api, "--append-system-prompt", "Speak plainly.", "go")
    place.rewrite(lambda entry: entry.get("options", {}).update(append_system_prompt="Speak in rhymes."))
    played = place.replay()

    assert played.returncode == 1
    assert "The nearest recorded request is 1 of 1." in played.stderr
    assert "system prompt, block" in played.stderr
    assert "-Speak plainly." in played.stderr
    assert "+Speak in rhymes." in played.stderr
    assert f"record it anew with the flags of then: toolpost record {place.file} PROMPT" in played.stderr


def test_a_miss_says_that_other_plugins_are_installed(place: Place) -> None:
    with served("Hello.") as api:
        place.record(api, "--append-system-prompt", "Speak plainly.", "go")

    def change(entry: dict[str, Any]) -> None:
        if "options" in entry:
            entry["options"]["append_system_prompt"] = "Speak in rhymes."
            entry["installed"] = "of another machine"

    place.rewrite(change)

    assert "It was recorded with other plugins or versions than are installed here." in place.replay().stderr


def tool_in(entry: dict[str, Any], name: str) -> dict[str, Any]:
    tools = entry.get("request", {}).get("tools", [])
    return next((tool for tool in tools if tool["name"] == name), {})


def test_a_changed_description_of_a_tool_misses_and_is_shown(place: Place) -> None:
    with served("Hello.") as api:
        place.record(api, "go")
    place.rewrite(lambda entry: tool_in(entry, "Read").update(description="Reads, as it did once."))
    played = place.replay()

    assert played.returncode == 1
    assert "The description of the tool Read differs" in played.stderr
    assert "-Reads, as it did once." in played.stderr


def test_a_changed_schema_of_a_tool_misses_and_is_shown(place: Place) -> None:
    def change(entry: dict[str, Any]) -> None:
        if tool := tool_in(entry, "Read"):
            tool["input_schema"]["properties"]["once"] = {"type": "boolean"}

    with served("Hello.") as api:
        place.record(api, "go")
    place.rewrite(change)
    played = place.replay()

    assert played.returncode == 1
    assert "The input schema of the tool Read differs" in played.stderr
    assert '-    "once": {' in played.stderr


def test_a_tool_that_is_new_misses_and_is_named(place: Place) -> None:
    def change(entry: dict[str, Any]) -> None:
        if tool := tool_in(entry, "Read"):
            entry["request"]["tools"].remove(tool)

    with served("Hello.") as api:
        place.record(api, "go")
    place.rewrite(change)

    assert "The description of the tool Read is new" in place.replay().stderr


def test_a_tool_that_is_gone_misses_and_is_named(place: Place) -> None:
    with served("Hello.") as api:
        place.record(api, "go")
    place.rewrite(lambda entry: entry.get("settings", {}).setdefault("plugins", {}).update(glob=False))

    assert "The description of the tool Glob is gone" in place.replay().stderr


def test_the_first_form_of_the_file_is_played_too(place: Place) -> None:
    def as_once(entry: dict[str, Any]) -> None:
        if "recording" in entry:
            entry["recording"] = 1
        if entry.get("what") == "submit":
            given = entry.pop("given")
            entry.update(e="prompt", prompt=given["prompt"], id=given["message_id"])

    place.settings(permissions={"allow": ["Bash"]})
    with served(turn(bash("echo a", "t1")), "Done.") as api:
        recorded = place.record(api, *STREAM, "go")
    place.rewrite(as_once)
    played = place.replay("--output-format", "stream-json")

    assert (played.stdout, played.returncode) == (recorded.stdout, 0), played.stderr


def test_calls_that_end_in_another_order_than_they_can_miss(place: Place) -> None:
    place.settings(permissions={"allow": ["Bash"]})
    with served(turn(bash("echo a", "t1")), turn(bash("echo b", "t2")), "Done.") as api:
        place.record(api, "go")
    entries = place.entries()
    first, second = (at for at, entry in enumerate(entries) if entry.get("e") == "call")
    entries[first], entries[second] = entries[second], entries[first]
    place.file.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    played = place.replay()

    assert played.returncode == 1
    assert (
        "The recording has the end of the call t2 next. The session waits for the end of the call t1." in played.stderr
    )


def test_prompts_in_another_order_miss(place: Place) -> None:
    with served("First.", "Second.") as api:
        place.record(api, *STREAM, "--input-format", "stream-json", input=prompts("one", "two"))
    other = {"one": "two", "two": "one"}

    def change(entry: dict[str, Any]) -> None:
        if entry.get("what") == "enqueue":
            entry["given"]["prompt"] = other[entry["given"]["prompt"]]

    place.rewrite(change)
    played = place.replay()

    assert played.returncode == 1
    assert "The message 1 (user) differs" in played.stderr


def test_a_session_that_ends_early_misses(place: Place) -> None:
    with served(turn(bash("echo a", "t1")), "Done.") as api:
        place.record(api, *BYPASS, "go")
    place.rewrite(lambda entry: entry.get("options", {}).update(max_turns=1))
    played = place.replay()

    assert played.returncode == 1
    assert "The session ended, and the recording goes on with a request to the model." in played.stderr


# What is in the file.


def test_no_secret_is_in_the_file(place: Place) -> None:
    place.settings(permissions={"allow": ["Bash"]})
    pieces = turn(text(f"The key is {FOREIGN}, and the header was Authorization: Bearer {TOKEN}.", pieces=7))
    with served(turn(bash(f'echo "$DEPLOY_TOKEN {KEY}"', "t1")), pieces) as api:
        recorded = place.record(api, *STREAM, "--include-partial-messages", f"my key is {KEY}")
    kept = place.file.read_text()
    played = place.replay()

    assert TOKEN in recorded.stdout  # the session itself had them
    assert all(secret not in kept for secret in (KEY, FOREIGN, TOKEN))
    texts = [entry["event"].get("text", "") for entry in place.entries() if entry.get("e") == "piece"]
    assert "[redacted: " in "".join(texts)
    assert FOREIGN[:12] not in "".join(texts)
    assert "The key is [redacted: API key]" in played.stdout
    assert played.returncode == 0, played.stderr


def test_a_recording_that_was_cut_off_anywhere_is_played_up_to_there(place: Place) -> None:
    with served(turn(read(str(place.project / "notes.txt"), "t1")), "Done.") as api:
        place.record(api, *BYPASS, "go")
    data = place.file.read_bytes()
    for size in (data.index(b'"e":"call"') + 20, len(data) - 3):
        place.file.write_bytes(data[:size])
        played = place.replay()
        assert played.returncode == 1
        assert "does not fit any more" in played.stderr
        assert "Traceback" not in played.stderr


def test_what_is_no_recording_is_told_so(place: Place) -> None:
    place.file.write_text('{"type": "user"}\n')
    played = place.replay()

    assert played.returncode == 1
    assert f"{place.file} is no recording of a session." in played.stderr


def test_a_file_that_cannot_be_written_is_told_before_anything_is_sent(place: Place) -> None:
    place.file = place.folder / "nowhere" / "session.jsonl"
    with served("Hello.") as api:
        refused = place.record(api, "go")

    assert refused.returncode == 1
    assert "can't be written" in refused.stderr
    assert not api.requests


def test_without_the_plugin_it_is_said_what_to_do(place: Place) -> None:
    place.settings(plugins={"recorder": False})
    with served("Hello.") as api:
        refused = place.record(api, "go")

    assert refused.returncode == 1
    assert "No plugin offers the service 'Recorder'. Enable one of: recorder." in refused.stderr


# With real tools.


def test_real_tools_on_an_unchanged_project_come_to_the_same(place: Place) -> None:
    place.settings(permissions={"allow": ["Bash", "Read"]})
    with served(turn(bash("cat notes.txt", "t1"), read(str(place.project / "notes.txt"), "t2")), "Done.") as api:
        recorded = place.record(api, *STREAM, "go")
    played = place.replay("--tools", "real", "--output-format", "stream-json")

    assert (played.stdout, played.returncode) == (recorded.stdout, 0), played.stderr
    assert "Every call came to what was recorded." in played.stderr


def test_real_tools_on_a_changed_project_are_told_call_by_call(place: Place) -> None:
    place.settings(permissions={"allow": ["Bash", "Read"]})
    with served(turn(bash("cat notes.txt", "t1"), bash("echo same", "t2")), "Done.") as api:
        place.record(api, "go")
    (place.project / "notes.txt").write_text("three\n")
    played = place.replay("--tools", "real")

    assert (played.stdout, played.returncode) == ("Done.\n", 1)
    assert "Bash (t1) came to something else." in played.stderr
    assert "-one two\n+three" in played.stderr
    assert "1 call did not come to what was recorded." in played.stderr


def test_real_tools_make_their_changes_and_hooks_are_not_asked_again(place: Place) -> None:
    log = place.folder / "hook.log"
    place.settings(
        hooks={"PreToolUse": [{"hooks": [{"type": "command", "command": f"echo asked >> {log}"}]}]},
        permissions={"allow": ["Bash"]},
    )
    with served(turn(bash("echo made > made.txt", "t1")), "Done.") as api:
        place.record(api, "go")
    (place.project / "made.txt").unlink()
    played = place.replay("--tools", "real")

    assert played.returncode == 0, played.stderr
    assert (place.project / "made.txt").read_text() == "made\n"
    assert log.read_text() == "asked\n"


def test_it_is_played_in_another_folder_too(place: Place, tmp_path: Path) -> None:
    place.settings(permissions={"allow": ["Bash"]})
    with served(turn(bash("cat notes.txt", "t1")), "Done.") as api:
        place.record(api, "go")
    other = tmp_path / "other"
    other.mkdir()
    (other / "notes.txt").write_text("one two\n")
    played = place.replay("--tools", "real", "--cwd", str(other))

    assert (played.stdout, played.returncode) == ("Done.\n", 0), played.stderr


# Where a person is asked.


async def test_what_a_person_answered_is_played_without_asking(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    reason = await recorded_refusal(place, monkeypatch)
    played = place.replay("--output-format", "json")
    real = place.replay("--tools", "real", "--output-format", "json")

    assert json.loads(played.stdout)["terminal_reason"] == reason == "aborted_tools"
    assert (played.returncode, real.returncode) == (0, 0), real.stderr
    assert (place.project / "kept.txt").read_text() == "kept\n"


async def test_a_refusal_that_ends_the_turn_does_so_where_the_recording_says(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    await recorded_refusal(place, monkeypatch)
    place.delay(
        lambda entry: answered(entry) or (entry.get("answer") == 2 and entry["event"]["$"] == "Stop"),
        until=lambda entry: (entry.get("e"), entry.get("in")) == ("reply", "t2"),
    )
    played = place.replay("--output-format", "json")
    real = place.replay("--tools", "real", "--output-format", "json")

    assert (played.returncode, real.returncode) == (0, 0), real.stderr
    assert [json.loads(run.stdout)["terminal_reason"] for run in (played, real)] == ["aborted_tools"] * 2


def answered(entry: dict[str, Any]) -> bool:
    return (entry.get("e"), entry.get("answer")) == ("done", 2)


async def recorded_refusal(place: Place, monkeypatch: pytest.MonkeyPatch) -> str:
    """Record a session whose second call a person refuses, with "stop", once the answer was all there.

    Returns how its turn ended.
    """
    asked = 0

    async def ask(question: Question) -> Reply:
        nonlocal asked
        asked += 1
        if asked == 1:
            return Reply(allow=True)
        await until(lambda: any(map(answered, place.entries())))
        return Reply(allow=False, stop=True)

    calls = turn(bash("echo kept > kept.txt", "t1")), turn(bash("rm kept.txt", "t2"))
    result: RunResult | None = None
    with served(*calls) as api:
        monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", api.url)
        env = {**os.environ, "HOME": str(place.folder / "home"), "TOOLPOST_CONFIG_DIR": str(place.folder / "state")}
        async with open_session(LaunchOptions(cwd=place.project, record=place.file), ask, env=env) as session:
            async for event in session.submit("go"):
                if isinstance(event, RunResult):
                    result = event
    (place.project / "kept.txt").unlink()
    assert result is not None
    return result.terminal_reason


async def test_an_interrupt_ends_the_played_turn_where_it_ended_the_recorded_one(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate()
    with served(turn("Half a sentence", pause(gate), " and more")) as api:
        monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", api.url)
        env = {**os.environ, "HOME": str(place.folder / "home"), "TOOLPOST_CONFIG_DIR": str(place.folder / "state")}
        options = LaunchOptions(cwd=place.project, record=place.file)
        async with open_session(options, env=env) as session:
            async for event in session.submit("go"):
                if isinstance(event, Streaming):
                    session.interrupt()
        gate.open()
    played = place.replay("--output-format", "json")

    assert json.loads(played.stdout)["terminal_reason"] == "aborted_streaming"
    assert played.returncode == 0, played.stderr
