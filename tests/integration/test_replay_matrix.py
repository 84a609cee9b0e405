"""Whatever can happen in a session is recorded by a process, and played by another one to the same bytes."""

from __future__ import annotations

import asyncio
import json
import shutil
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from compacting import FULL, HANDOVER, MODEL
from mock_messages_api import (
    Gate,
    MockMessagesApi,
    Request,
    Step,
    cut,
    error,
    pause,
    repeat,
    stream_error,
    thinking,
    tool_use,
    turn,
)
from recorded_place import BYPASS, KEY, STREAM, TOOLPOST, Driven, Lines, Place, bash, served
from served_session import until
from tmux_pane import HAS_TMUX, pane

from toolpost import AssistantMessage, LaunchOptions, Question, Reply
from toolpost_core.api import open_session
from toolpost_core.session.session import Session
from toolpost_service_recorder import turnstile
from toolpost_service_recorder.pace import PATIENCE

OTHER = "claude-haiku-4-5-20251001"
OVERLOADED = error(529, "overloaded_error", headers={"retry-after": "0"})


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path.resolve())


def waits_for(file: str, name: str) -> Any:
    """Return a call that says that it runs and goes on until a file is there."""
    return bash(f"touch runs; while [ ! -e {file} ]; do sleep 0.02; done; echo over", name)


def hooked(place: Place, event: str, *hooks: Any, **group: Any) -> None:
    file = place.project / ".toolpost" / "settings.json"
    settings = json.loads(file.read_text()) if file.exists() else {}
    settings.setdefault("hooks", {}).setdefault(event, []).append({"hooks": list(hooks), **group})
    place.settings(**settings)


def command(text: str, **more: Any) -> dict[str, Any]:
    return {"type": "command", "command": text, **more}


def check(place: Place, said: str, *expected: str) -> None:
    """Play the recording; it prints what the recorded run printed, which has all of `expected`."""
    missing = [text for text in expected if text not in said]
    assert not missing, said
    played = place.replay("--output-format", "stream-json")
    assert played.stdout.splitlines() == said.splitlines(), played.stderr
    assert played.returncode == 0, played.stderr


# What happens by itself in one run.


def runs(place: Place, *script: Step, args: tuple[str, ...] = ()) -> str:
    """Record one prompt; returns what was printed."""
    with served(*script) as api:
        recorded = place.record(api, *STREAM, "--include-partial-messages", *BYPASS, *args, "go")
    assert "Traceback" not in recorded.stderr
    return recorded.stdout


def test_retries_of_two_kinds(place: Place) -> None:
    limited = error(429, "rate_limit_error", headers={"retry-after": "0"})
    check(place, runs(place, limited, OVERLOADED, "Done."), '"attempt":2')


def test_another_model_that_steps_in(place: Place) -> None:
    gives_up = error(529, "overloaded_error", headers={"x-should-retry": "false"})
    first = turn(thinking("hm", "c2ln"), bash("echo a", "t1"))
    check(place, runs(place, first, gives_up, "Done.", args=("--fallback-model", OTHER)), OTHER)


def test_an_overload_in_the_middle_of_an_answer(place: Place) -> None:
    half = turn("Half of a sen", stream_error("overloaded_error", "Overloaded"))
    check(place, runs(place, half, "A whole sentence."), "supersedes")


def test_an_answer_that_breaks_off_again_and_again_and_comes_in_one_piece(place: Place) -> None:
    check(place, runs(place, *repeat(turn("Half", cut()), 3), "Whole."), '"result":"Whole."')


def test_an_answer_that_breaks_off_behind_a_call_that_ran(place: Place) -> None:
    ran = turn(bash("echo ran", "t1"), "and then", pause(0.3), cut())
    check(place, runs(place, ran, "Done."), "ran")


def test_an_answer_that_the_limit_cut_is_asked_for_again_and_gone_on_with(place: Place) -> None:
    cut_short = turn("Half of", stop_reason="max_tokens")
    check(place, runs(place, cut_short, cut_short, "the rest."), '"result":"Half ofthe rest."')


def test_thoughts_and_calls_side_by_side(place: Place) -> None:
    calls = [bash(f"sleep {wait}; echo {wait}", f"t{wait}") for wait in (0.2, 0, 0.1)]
    check(place, runs(place, turn(thinking("Three."), *calls), "Done."), "t0.1")


def test_old_results_that_are_cleared_and_a_summary(place: Place) -> None:
    notes = str(place.project / "notes.txt")
    full = turn(tool_use("Read", {"file_path": notes}, id="t2"), usage=FULL)
    first = turn(tool_use("Read", {"file_path": notes}, id="t1"))
    check(place, runs(place, first, full, HANDOVER, "Done.", args=("--model", MODEL)), "compact_boundary")


def test_a_request_that_is_too_long_for_the_service(place: Place) -> None:
    too_long = error(400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum")
    first = turn(bash("seq 3000", "t1"))
    check(place, runs(place, first, too_long, HANDOVER, "Done.", args=("--model", MODEL)), "Done.")


def test_hooks_that_are_programs(place: Place) -> None:
    for event in ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolBatch", "SessionEnd"):
        hooked(place, event, command(f"echo {event}"))
    hooked(place, "PostToolUse", command("""echo '{"systemMessage": "seen"}'"""))
    hooked(place, "PreToolUse", command("echo no >&2; exit 2"), matcher="Write")
    again = """grep -q '"stop_hook_active": *true' || { echo 'look again' >&2; exit 2; }"""
    hooked(place, "Stop", command(again))
    write = tool_use("Write", {"file_path": str(place.project / "new.txt"), "content": "x"}, id="t2")
    check(place, runs(place, turn(bash("echo a", "t1"), write), "Done.", "Really."), "Really.")


def test_a_hook_that_goes_on_in_the_background_and_wakes_the_model(place: Place) -> None:
    hooked(place, "PostToolUse", command("sleep 0.3; echo 'the build broke' >&2; exit 2", asyncRewake=True))
    check(place, runs(place, turn(bash("echo a", "t1")), "Done.", "I look."), "I look.")


def test_hooks_that_ask_the_model(place: Place) -> None:
    hooked(place, "PreToolUse", {"type": "prompt", "prompt": "Is it fine? $ARGUMENTS"}, matcher="Bash")
    verdict = '{"ok": true}'
    said = runs(place, turn(bash("echo a", "t1")), verdict, "Done.")
    check(place, said, "Done.", '"modelUsage":{"claude')


def test_hooks_that_are_agents(place: Place) -> None:
    hooked(place, "Stop", {"type": "agent", "prompt": "Look whether it is done."})
    hooked(place, "SubagentStart", command("echo begun"))
    hooked(place, "SubagentStop", command("""echo '{"systemMessage": "an agent is done"}'"""))
    looks = turn(tool_use("Read", {"file_path": str(place.project / "notes.txt")}, id="s1"))
    check(place, runs(place, "Done.", looks, '{"ok": true}'), '"result":"Done."')


def test_files_that_hooks_watch(place: Place) -> None:
    watch = json.dumps({"hookSpecificOutput": {"hookEventName": "SessionStart", "watchPaths": ["notes.txt"]}})
    hooked(place, "SessionStart", command(f"echo '{watch}'"))
    hooked(place, "FileChanged", command("""echo '{"systemMessage": "it changed"}'"""))
    hooked(place, "InstructionsLoaded", command("true"))
    (place.project / "TOOLPOST.md").write_text("Be brief.\n")
    (place.project / "AGENTS.md").write_text("Be brief.\n")
    said = runs(place, turn(bash("echo more >> notes.txt", "t1")), turn(bash("echo a", "t2")), "Done.")
    (place.project / "AGENTS.md").unlink()
    check(place, said, "it changed")


def test_a_budget_that_runs_out(place: Place) -> None:
    script = [turn(bash("echo a", f"t{n}"), usage=FULL) for n in range(5)]
    check(place, runs(place, *script, args=("--max-budget-usd", "1")), "budget_exhausted")


# What a program does meanwhile.


def drives(place: Place, drive: Callable[[Driven], None], *script: Step, args: tuple[str, ...] = ()) -> str:
    """Record a session that is driven; returns what was printed."""
    with served(*script) as api, place.driven(api, "--include-partial-messages", *BYPASS, *args) as run:
        drive(run)
    assert "Traceback" not in run.told
    return run.said


def arrives(file: Path) -> None:
    is_there(file.exists)


def is_there(what: Callable[[], bool]) -> None:
    ends = time.monotonic() + 30
    while not what():
        assert time.monotonic() < ends, f"{what} never came true"
        time.sleep(0.01)


def test_changes_between_turns(place: Place) -> None:
    def drive(run: Driven) -> None:
        run.control("set_permission_mode", mode="plan")
        run.prompt("one")
        run.until('"type":"result"')
        run.control("set_model", model=OTHER)
        run.control("set_max_thinking_tokens", max_thinking_tokens=2000)
        run.control("set_permission_mode", mode="acceptEdits")
        run.control("set_permission_mode", mode="no such mode")
        run.control("interrupt")
        run.control("no_such_request")
        run.prompt("two")
        run.until('"type":"result"')

    said = drives(place, drive, "First.", "Second.")
    check(place, said, OTHER, '"permissionMode":"acceptEdits"', "no_such_request")


def test_lines_that_cannot_be_used_stand_where_they_stood(place: Place) -> None:
    def drive(run: Driven) -> None:
        run.write({"type": "nonsense"})
        run.prompt("one")
        arrives(place.project / "runs")
        run.write({"type": "nonsense"})
        run.control("set_permission_mode", mode="acceptEdits")
        (place.project / "go").touch()
        run.prompt("two")

    said = drives(place, drive, turn(waits_for("go", "t1")), "First.", "Second.")
    check(place, said, "bad_input_line")


@pytest.mark.parametrize("priority", ["now", "next", "later"])
def test_a_prompt_into_a_running_turn(place: Place, priority: str) -> None:
    def drive(run: Driven) -> None:
        run.prompt("one")
        arrives(place.project / "runs")
        run.prompt("two", priority=priority, uuid="00000000-0000-4000-8000-000000000002")
        run.prompt("three", priority="later")
        run.control("set_max_thinking_tokens", max_thinking_tokens=0)
        (place.project / "go").touch()

    said = drives(place, drive, turn(waits_for("go", "t1")), "First.", "Second.", "Third.")
    check(place, said)


def test_a_prompt_that_is_taken_back(place: Place) -> None:
    def drive(run: Driven) -> None:
        run.prompt("one")
        arrives(place.project / "runs")
        run.prompt("two", uuid="00000000-0000-4000-8000-000000000002")
        run.control("cancel_async_message", message_uuid="00000000-0000-4000-8000-000000000002")
        (place.project / "go").touch()

    check(place, drives(place, drive, turn(waits_for("go", "t1")), "First."), '"cancelled":true')


def test_an_interrupt_in_the_middle_of_a_call(place: Place) -> None:
    def drive(run: Driven) -> None:
        run.prompt("one")
        arrives(place.project / "runs")
        run.control("interrupt")
        run.until('"type":"result"')
        run.prompt("two")

    said = drives(place, drive, turn(bash("echo quick", "t0"), waits_for("go", "t1")), "Second.")
    check(place, said, "aborted_tools", "Second.")


def test_an_interrupt_in_the_middle_of_an_answer(place: Place) -> None:
    gate = Gate()

    def drive(run: Driven) -> None:
        run.prompt("one")
        run.until("Half a sentence")
        run.control("interrupt", cancel_queued=True)
        run.until('"type":"result"')
        gate.open()
        run.prompt("two")

    said = drives(place, drive, turn("Half a sentence", pause(gate), " and more"), "Second.")
    check(place, said, "aborted_streaming", "Second.")


def test_a_command_in_the_background_that_ends_between_two_turns(place: Place) -> None:
    def drive(run: Driven) -> None:
        run.prompt("one")
        run.until('"type":"result"')
        (place.project / "go").touch()
        run.until('"type":"result"')
        run.prompt("two")

    behind = tool_use(
        "Bash",
        {"command": "while [ ! -e go ]; do sleep 0.02; done; echo over", "run_in_background": True},
        id="t1",
    )
    said = drives(place, drive, turn(behind), "It runs.", "It came.", "Second.")
    check(place, said, "It came.")


def test_files_that_are_rewound(place: Place) -> None:
    uuid = "00000000-0000-4000-8000-000000000001"

    def drive(run: Driven) -> None:
        run.prompt("one", uuid=uuid)
        run.until('"type":"result"')
        run.control("rewind_files", user_message_id=uuid)
        run.prompt("two")

    edit = tool_use("Write", {"file_path": str(place.project / "new.txt"), "content": "x\n"}, id="t1")

    def told(request: Request) -> str:
        return "Second." if "set these files back" in json.dumps(request.body["messages"]) else "Nobody told me."

    said = drives(place, drive, turn(edit), "First.", told)
    check(place, said, '"canRewind":true', "Second.")


# A session that goes on.


def begun_elsewhere(place: Place, *script: Step) -> str:
    """Run a session that is not recorded; returns its id."""
    with served(*script) as api:
        ran = place.run("-p", *STREAM, *BYPASS, "before", env=place.service(api))
    return str(json.loads(ran.stdout.splitlines()[0])["session_id"])


@pytest.mark.parametrize(
    "flags", [("--continue",), ("--resume", "ID"), ("--resume", "ID", "--fork-session")], ids=" ".join
)
def test_a_session_that_goes_on_from_another_one(place: Place, flags: tuple[str, ...]) -> None:
    session = begun_elsewhere(place, turn(thinking("hm", "c2ln"), bash("seq 40000", "t0")), f"My key is {KEY}.")
    args = tuple(session if flag == "ID" else flag for flag in flags)

    def remembers(request: Request) -> str:
        return "I know." if "My key is" in json.dumps(request.body["messages"]) else "I know nothing."

    said = runs(place, turn(bash("echo a", "t1")), remembers, args=args)
    assert (f'"session_id":"{session}"' in said) == ("--fork-session" not in flags)
    shutil.rmtree(place.folder / "state")
    check(place, said, "I know.")
    assert KEY not in place.file.read_text()


# What a person does at the terminal, as a front end does it.


@asynccontextmanager
async def recorded(place: Place, api: MockMessagesApi, **options: Any) -> AsyncIterator[tuple[Session, Lines]]:
    env = place.variables(place.service(api))
    launch = {"cwd": place.project, "record": place.file, "trust": True, "permission_mode": "bypassPermissions"}
    async with open_session(LaunchOptions(**{**launch, **options}), nobody, env=env) as session:
        yield session, Lines(session)


async def nobody(question: Question) -> Reply:
    raise AssertionError(question)


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., MockMessagesApi]]:
    """Serve a script; the provider of a session in this process looks for its key here."""
    with ExitStack() as stack:

        def serve(*script: Step) -> MockMessagesApi:
            api = stack.enter_context(served(*script))
            monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
            monkeypatch.setenv("ANTHROPIC_BASE_URL", api.url)
            return api

        yield serve


async def test_what_slash_commands_do(place: Place, service: Callable[..., MockMessagesApi]) -> None:
    def after_all(request: Request) -> str:
        return f"{len(request.body['messages'])} messages, {request.body['model']}"

    api = service("It is salt. " * 2_000, "Second.", HANDOVER, "Third.", "Fourth.", "New.", after_all)
    async with recorded(place, api, model=MODEL) as (session, lines):
        await lines.of(session.submit("one"))
        await lines.of(session.submit("two"))
        await lines.of(session.compact("Keep the numbers."))
        await lines.of(session.submit("three"))
        session.set_effort("low")
        await session.set_model(OTHER)
        await lines.of(session.submit("four"))
        await session.rewind_conversation(session.sent_prompts()[-1].id)
        session.set_permission_mode("plan")
        await session.clear()
        await lines.of(session.submit("five"))
        session.update_rules([{"type": "setMode", "destination": "session", "mode": "acceptEdits"}])
        session.enqueue("six")
        await lines.of(session.go_on())

    check(place, lines.said, "compact_boundary", f"3 messages, {OTHER}", '"permissionMode":"acceptEdits"')


async def test_changes_while_a_turn_runs(place: Place, service: Callable[..., MockMessagesApi]) -> None:
    async with recorded(place, service(turn(waits_for("go", "t1")), "Done.", "Again.")) as (session, lines):
        running = asyncio.create_task(lines.of(session.submit("one")))
        await until((place.project / "runs").exists)
        session.enqueue("steer")
        taken_back = session.enqueue("not that")
        session.withdraw(taken_back.id)
        session.set_permission_mode("acceptEdits")
        await session.set_model(OTHER)
        (place.project / "go").touch()
        await running
        await lines.of(session.submit("two"))

    check(place, lines.said, OTHER)


async def test_a_turn_that_nobody_follows_to_its_end(place: Place, service: Callable[..., MockMessagesApi]) -> None:
    gate = Gate()
    async with recorded(place, service(turn("Half", pause(gate), " more"), "Second.")) as (session, lines):

        async def some() -> AsyncIterator[Any]:
            events = session.submit("one")
            async for event in events:
                yield event
                if isinstance(event, AssistantMessage):
                    await events.aclose()
                    return

        await lines.of(some())
        gate.open()
        await lines.of(session.submit("two"))

    check(place, lines.said, "Second.")


async def test_settings_that_change_are_told_when_they_do_and_when_it_is_played(
    place: Place, service: Callable[..., MockMessagesApi], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        turnstile, "LONG_PATIENCE", PATIENCE
    )  # what was read for the change is not read when it is played
    place.here(monkeypatch)
    async with recorded(place, service("First.", "Second.")) as (session, lines):
        await lines.of(session.submit("one"))
        place.settings(plugins={"git": False})
        await lines.of(session.submit("two"))
    _, miss = await place.play()

    assert "It can be played up to here and no further" in lines.said
    assert miss is not None
    assert "The settings changed here, which is not played: context/git is off" in miss


@pytest.mark.skipif(not HAS_TMUX, reason="tmux is not installed: no terminal to look at")
@pytest.mark.parametrize("term", ["xterm-256color", "dumb"])
def test_a_sitting_at_a_terminal_is_played_to_the_same_lines_each_time(place: Place, term: str) -> None:
    def last(request: Request) -> str:
        return f"Asked {request.body['model']}."

    script: list[Step] = [turn(waits_for("go", "t1")), "Both done.", last]
    with served(*script) as api:
        env = {**place.variables(place.service(api)), "TERM": term, "LANG": "C.UTF-8"}
        command = [TOOLPOST, *BYPASS, "--trust", "--record", str(place.file)]
        with pane(command, cwd=place.project, env=env) as terminal:
            terminal.shows(r"(?m)^›$")
            terminal.send("begin")
            arrives(place.project / "runs")
            terminal.send("and that too")
            terminal.shows("next: and that too")
            (place.project / "go").touch()
            terminal.shows(r"(?sm)Both done\..*^›$")
            terminal.send(f"/model {OTHER}")
            terminal.send("once more")
            terminal.shows(r"(?sm)Asked claude-haiku.*^›$")
            terminal.send("/exit")
            is_there(lambda: place.file.read_text().endswith('{"e":"end"}\n'))
    played = [place.replay("--output-format", "stream-json") for _ in range(2)]

    assert [run.returncode for run in played] == [0, 0], played[0].stderr
    assert played[0].stdout == played[1].stdout
    assert f"Asked {OTHER}." in played[0].stdout
