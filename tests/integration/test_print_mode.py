"""`toolpost -p` as a process of its own: what programs and shells see of it."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from forked import run_program
from mock_messages_api import Gate, MockMessagesApi, Step, cut, error, pause, tool_use, turn

TOOLPOST = str(Path(sys.executable).with_name("toolpost"))
LIMIT = 60.0


class Place:
    """A project, a home, and how to run the program there."""

    def __init__(self, folder: Path) -> None:
        self.project = folder / "project"
        self.state = folder / "state"
        self.project.mkdir()
        self._home = folder / "home"

    def start(self, api: MockMessagesApi, *args: str, **options: Any) -> subprocess.Popen[str]:
        env = self._env(api)
        streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.Popen([TOOLPOST, *args], cwd=self.project, text=True, **{"env": env, **streams, **options})

    def run(self, api: MockMessagesApi, *args: str, **options: Any) -> subprocess.CompletedProcess[str]:
        if not options:
            return run_program(args, cwd=self.project, env=self._env(api), timeout=LIMIT)
        process = self.start(api, *args, **options)
        out, err = process.communicate(timeout=LIMIT)
        return subprocess.CompletedProcess(args, process.returncode, out, err)

    def _env(self, api: MockMessagesApi) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self._home),
            "TOOLPOST_CONFIG_DIR": str(self.state),
            "ANTHROPIC_BASE_URL": api.url,
            "ANTHROPIC_API_KEY": "test",
            "PYTHONDONTWRITEBYTECODE": "1",  # a limit on the size of files would cut off the interpreter's own caches
        }

    def transcript(self) -> Path:
        (path,) = self.state.glob("projects/*/*.jsonl")
        return path


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path.resolve())


@contextmanager
def served(*script: Step) -> Iterator[MockMessagesApi]:
    with MockMessagesApi(script).run_in_thread() as api:
        yield api


BYPASS = ("--dangerously-skip-permissions",)
STREAM = ("--output-format", "stream-json", "--verbose")


def bash(command: str, name: str = "t1") -> Any:
    return tool_use("Bash", {"command": command}, id=name)


def lines_of(out: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.splitlines()]


def test_text_mode_prints_the_answer_and_nothing_else(place: Place) -> None:
    with served(turn(bash("true")), "All done.") as api:
        done = place.run(api, "-p", "go", *BYPASS)

    assert (done.returncode, done.stdout, done.stderr) == (0, "All done.\n", "")


def test_json_mode_prints_one_result(place: Place) -> None:
    with served("Hello.") as api:
        done = place.run(api, "-p", "go", "--output-format", "json")
    result = json.loads(done.stdout)

    assert (result["type"], result["subtype"], result["is_error"], result["result"]) == (
        "result",
        "success",
        False,
        "Hello.",
    )
    assert result["session_id"] == place.transcript().stem
    assert {"num_turns", "duration_ms", "total_cost_usd", "usage", "permission_denials"} <= result.keys()


def test_stream_json_opens_with_init_and_closes_with_the_result(place: Place) -> None:
    with served(turn("Now.", bash("echo hi")), "Done.") as api:
        done = place.run(api, "-p", "go", *STREAM, *BYPASS)
    lines = lines_of(done.stdout)
    kinds = [(line["type"], line.get("subtype")) for line in lines]

    assert kinds[0] == ("system", "init")
    assert kinds[-1] == ("result", "success")
    assert [kind for kind, _ in kinds[1:-1]] == ["assistant", "assistant", "user", "assistant"]
    assert all({"uuid", "session_id"} <= line.keys() for line in lines)
    assert len({line["uuid"] for line in lines}) == len(lines)
    init = lines[0]
    assert {"cwd", "tools", "model", "permissionMode", "mcp_servers", "slash_commands", "apiKeySource"} <= init.keys()
    assert (init["cwd"], init["permissionMode"]) == (str(place.project), "bypassPermissions")
    said, call = lines[1]["message"], lines[2]["message"]
    assert said["id"] == call["id"]
    assert call["content"] == [{"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "echo hi"}}]
    (result,) = lines[3]["message"]["content"]
    assert (result["type"], result["tool_use_id"]) == ("tool_result", "t1")


@pytest.mark.requirement("loop.one_final_event")
@pytest.mark.parametrize(
    ("args", "subtype"),
    [
        ((), "success"),
        (("--max-turns", "1"), "error_max_turns"),
        (("--max-budget-usd", "0.000001"), "error_max_budget_usd"),
    ],
)
def test_the_exit_code_agrees_with_the_one_result(place: Place, args: tuple[str, ...], subtype: str) -> None:
    with served(turn(bash("true")), "Done.") as api:
        done = place.run(api, "-p", "go", *STREAM, *BYPASS, *args)
    results = [line for line in lines_of(done.stdout) if line["type"] == "result"]

    assert [(line["subtype"], line["is_error"]) for line in results] == [(subtype, subtype != "success")]
    assert done.returncode == (0 if subtype == "success" else 1)


def test_a_limit_that_ends_a_run_is_told_once(place: Place) -> None:
    with served(turn(bash("true")), "Never.") as api:
        done = place.run(api, "-p", "go", "--max-turns", "1", *BYPASS)

    assert (done.returncode, done.stderr) == (1, "toolpost: error: The limit of 1 turns is reached\n")


def test_a_tool_that_the_command_line_names_and_is_not_there_is_named(place: Place) -> None:
    with served("Done.") as api:
        done = place.run(api, "-p", "go", "--tools", "Read,Grpe", "--disallowed-tools", "Bsh,mcp__x,Read(/secret)")

    assert [line for line in done.stderr.splitlines() if "not there" in line] == done.stderr.splitlines()
    assert [name in done.stderr for name in ("'Grpe'", "'Bsh'", "'mcp__x'", "'Read'")] == [True, True, False, False]


def test_a_request_that_the_service_refuses_is_an_error_on_stderr_and_the_session_resumes(place: Place) -> None:
    with served(error(400, "invalid_request_error", "that is wrong"), "Better.") as api:
        failed = place.run(api, "-p", "first")
        again = place.run(api, "-p", "second", "--continue")
        sent = json.dumps(api.requests[1].body["messages"])

    assert failed.returncode == 1
    assert "that is wrong" in failed.stdout + failed.stderr
    assert (again.returncode, again.stdout) == (0, "Better.\n")
    assert "first" not in sent, "what was refused is not sent again"


@pytest.mark.parametrize("format", ["text", "stream-json"])
def test_text_of_an_answer_that_broke_off_is_printed_once(place: Place, format: str) -> None:
    said = "A sentence that the model said."
    broken = turn(said, pause(0.05), cut())
    with served(broken, turn(said)) as api:
        done = place.run(api, "-p", "go", "--output-format", format, "--verbose")

    assert done.returncode == 0
    if format == "text":
        assert done.stdout == f"{said}\n"
        assert "retrying in" in done.stderr
        return
    lines = lines_of(done.stdout)
    first, second = (line for line in lines if line["type"] == "assistant")
    assert second["supersedes"] == [first["uuid"]]
    assert [line["attempt"] for line in lines if line.get("subtype") == "api_retry"] == [1]
    assert (lines[-1]["result"], lines[-1]["num_turns"]) == (said, 1)


def test_the_fallback_model_answers_where_the_first_is_overloaded(place: Place) -> None:
    busy = error(529, "overloaded_error", "Overloaded", {"x-should-retry": "false"})
    with served(busy, "From the other.") as api:
        done = place.run(api, "-p", "go", "--model", "opus", "--fallback-model", "haiku,sonnet")
        first, second = (request.body["model"] for request in api.requests)

    assert (done.returncode, done.stdout) == (0, "From the other.\n")
    assert first != second
    assert done.stderr == f"toolpost: warning: {first} is overloaded: {second} goes on with this prompt.\n"


def test_without_a_key_it_says_the_three_ways_on(place: Place) -> None:
    with served() as api:
        done = place.run(api, "-p", "go", env={"PATH": os.environ["PATH"], "HOME": str(place.state)})

    assert done.returncode != 0
    assert all(word in done.stderr for word in ("key", "--provider", "toolpost demo"))
    assert api.requests == []


def test_a_reader_that_goes_away_ends_the_run(place: Place) -> None:
    gate = Gate()
    with served(turn("First.", pause(gate), "more " * 20_000), "Done.") as api:
        process = place.start(api, "-p", "go", *STREAM, "--include-partial-messages")
        assert process.stdout is not None
        assert process.stdout.readline()
        process.stdout.close()
        gate.open()
        code = process.wait(LIMIT)
        assert process.stderr is not None
        told = process.stderr.read()
        process.stderr.close()

    assert code != 0
    assert "Traceback" not in told


def test_a_closed_stdin_is_no_input(place: Place) -> None:
    with served("Hello.") as api:
        done = place.run(api, "-p", "go", preexec_fn=lambda: os.close(0), stdin=None)

    assert (done.returncode, done.stdout) == (0, "Hello.\n")


@pytest.mark.requirement("processes.reaped_after_sigkill")
@pytest.mark.requirement("transcript.survives_a_kill")
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_killed_while_a_command_runs_it_leaves_no_process_and_resumes(place: Place, how: signal.Signals) -> None:
    with served(turn(bash("echo $$ > pid; sleep 600 & echo $! > child; touch ready; wait")), "Back.") as api:
        process = place.start(api, "-p", "first", *BYPASS)
        wait_for(place.project / "ready")
        process.send_signal(how)
        process.communicate(timeout=LIMIT)
        resumed = place.run(api, "-p", "second", "--continue", *BYPASS)
        (result,) = [r for m in api.requests[1].body["messages"] for r in results_in(m)]

    assert process.returncode == (-9 if how == signal.SIGKILL else 143)
    assert (resumed.returncode, resumed.stdout) == (0, "Back.\n")
    assert (result["tool_use_id"], result.get("is_error")) == ("t1", True)
    assert "user refused" not in str(result).lower()
    for name in ("pid", "child"):
        assert gone(int((place.project / name).read_text())), f"{name} is still there"


def results_in(message: Any) -> list[Any]:
    return [b for b in message["content"] if isinstance(b, dict) and b["type"] == "tool_result"]


def wait_for(path: Path) -> None:
    """Block until a file is there; the limit of the test bounds it."""
    import time

    while not path.exists():
        time.sleep(0.01)


def gone(pid: int) -> bool:
    """Whether a process ends within some seconds."""
    import time

    for _ in range(500):
        try:
            status = Path(f"/proc/{pid}/stat").read_text()
        except OSError:
            return True
        if status.rpartition(")")[2].split()[0] == "Z":
            return True
        time.sleep(0.01)
    return False


@pytest.mark.requirement("transcript.one_writer")
def test_a_second_process_on_a_session_is_refused_with_the_pid_of_the_first(place: Place) -> None:
    gate = Gate()
    with served(turn("First.", pause(gate)), "Never.") as api:
        first = place.start(api, "-p", "first")
        api.arrival(1).wait()
        second = place.run(api, "-p", "second", "--continue")
        gate.open()
        first.communicate(timeout=LIMIT)

    assert second.returncode != 0
    assert f"pid {first.pid}" in second.stderr
    assert first.returncode == 0
    chain = [json.loads(line) for line in place.transcript().read_text().splitlines()]
    links = [(r["parentUuid"], r["uuid"]) for r in chain if "uuid" in r]
    assert [parent for parent, _ in links] == [None, *[uuid for _, uuid in links[:-1]]]


def test_what_a_run_cost_is_what_its_transcript_says(place: Place) -> None:
    with served(turn("Now.", bash("echo hi")), "Done.") as api:
        result = json.loads(place.run(api, "-p", "go", "--output-format", "json", *BYPASS).stdout)
        cost = json.loads(place.run(api, "cost", "--json").stdout)

    (model,) = cost["models"].values()
    assert cost["usd"] == pytest.approx(result["total_cost_usd"])
    assert {key: model[key] for key in ("input_tokens", "output_tokens")} == {
        key: result["usage"][key] for key in ("input_tokens", "output_tokens")
    }


def test_the_id_of_a_session_that_is_there_is_no_id_for_a_new_one(place: Place) -> None:
    with served("One.", "Never.") as api:
        place.run(api, "-p", "first")
        path = place.transcript()
        before = path.read_bytes()
        refused = place.run(api, "-p", "second", "--session-id", path.stem)

    assert (refused.returncode, f"--resume {path.stem}" in refused.stderr) == (1, True)
    assert path.read_bytes() == before


def test_a_cut_off_transcript_resumes_up_to_its_last_whole_line_and_says_so(place: Place) -> None:
    with served("One.", "Two.", "Three.", "Four.") as api:
        place.run(api, "-p", "first")
        place.run(api, "-p", "second", "--continue")
        path = place.transcript()
        path.write_bytes(path.read_bytes()[:-20])
        cut = place.run(api, "-p", "third", "--continue")
        place.run(api, "-p", "fourth", "--continue")
        sent = [json.dumps(request.body["messages"]) for request in api.requests]

    assert (cut.returncode, cut.stdout) == (0, "Three.\n")
    assert "damaged" in cut.stderr
    assert all(word in sent[2] for word in ("first", "One.", "second"))
    assert all(word in sent[3] for word in ("first", "One.", "second", "third", "Three."))


def test_a_full_disk_is_said_once_and_the_run_goes_on(place: Place) -> None:
    calls = [turn(bash(f"echo {n}", f"t{n}")) for n in range(3)]
    with served(*calls, "Done.") as api:
        place.run(api, "--version")  # lays the cache of what is installed, which is larger than the limit
        done = place.run(
            api,
            "-p",
            "go " + "x" * 600,
            *BYPASS,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (2_000,) * 2),
        )

    assert (done.returncode, done.stdout) == (0, "Done.\n")
    assert done.stderr.count("can't be written") == 1


HOOKS = {
    "exit 2 with JSON": "echo '{\"x\":1}'; echo REASON >&2; exit 2",
    "exit 2 with allow": (
        'echo \'{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}\'; '
        "echo REASON >&2; exit 2"
    ),
    "exit 2 alone": "echo REASON >&2; exit 2",
    "deny": (
        'echo \'{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny",'
        '"permissionDecisionReason":"REASON"}}\''
    ),
    "block": 'echo \'{"decision":"block","reason":"REASON"}\'',
}


def hooked(place: Place, event: str, *commands: str, **more: Any) -> None:
    """Configure command hooks in the user's settings."""
    hooks = [{"type": "command", "command": command} for command in commands]
    place.state.mkdir(exist_ok=True)
    settings = {"hooks": {event: [{"hooks": hooks}]}, **more}
    (place.state / "settings.json").write_text(json.dumps(settings))


@pytest.mark.parametrize("hook", HOOKS)
def test_a_hook_that_blocks_keeps_the_command_from_running_and_the_model_reads_why(place: Place, hook: str) -> None:
    hooked(place, "PreToolUse", HOOKS[hook])
    with served(turn(bash("touch made")), "Done.") as api:
        done = place.run(api, "-p", "go", *BYPASS)
        (result,) = api.requests[1].tool_results

    assert done.returncode == 0
    assert not (place.project / "made").exists()
    assert result["is_error"]
    assert "REASON" in str(result["content"])


ALLOW = '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}'


def test_of_several_hooks_all_run_and_the_strictest_counts(place: Place) -> None:
    hooked(place, "PreToolUse", f"touch ran; echo '{ALLOW}'", HOOKS["deny"], "exit 1")
    with served(turn(bash("touch made")), "Done.") as api:
        place.run(api, "-p", "go", *BYPASS)
        (result,) = api.requests[1].tool_results

    assert (place.project / "ran").exists()
    assert not (place.project / "made").exists()
    assert "REASON" in str(result["content"])


@pytest.mark.requirement("permissions.hook_allow_passes_no_rule")
def test_a_bare_run_has_neither_hooks_nor_instructions(place: Place) -> None:
    place.state.mkdir()
    hook = {"type": "command", "command": "touch hooked"}
    settings = {"hooks": {"UserPromptSubmit": [{"hooks": [hook]}]}}
    (place.state / "settings.json").write_text(json.dumps(settings))
    (place.project / "TOOLPOST.md").write_text("Always speak in rhymes.")
    with served("Done.") as api:
        place.run(api, "-p", "go", "--bare")

    assert not (place.project / "hooked").exists()
    assert "in rhymes" not in json.dumps(api.requests[0].body)


def test_a_deny_rule_beats_a_hook_that_allows(place: Place) -> None:
    hooked(place, "PreToolUse", f"echo '{ALLOW}'", permissions={"deny": ["Bash(touch:*)"]})
    with served(turn(bash("touch made", "t1"), bash("echo fine > fine", "t2")), "Done.") as api:
        place.run(api, "-p", "go")

    assert not (place.project / "made").exists()
    assert (place.project / "fine").exists()


@pytest.mark.requirement("loop.stop_hook_bound")
def test_a_stop_hook_that_always_blocks_ends_after_eight_rounds_with_a_warning(place: Place) -> None:
    hooked(place, "Stop", "echo more >&2; exit 2")
    with served(*["Done."] * 12) as api:
        done = place.run(api, "-p", "go")
        number = len(api.requests)

    assert (done.returncode, number) == (0, 9)
    assert "8 times" in done.stderr


def test_a_hook_on_the_prompt_may_block_it(place: Place) -> None:
    hooked(place, "UserPromptSubmit", "echo 'not that' >&2; exit 2")
    with served() as api:
        done = place.run(api, "-p", "my secret")

    assert "not that" in done.stdout + done.stderr
    assert api.requests == []


def test_nothing_starts_where_a_settings_file_can_not_be_used_as_what_it_forbids_would_not_hold(place: Place) -> None:
    place.state.mkdir()
    file = place.state / "settings.json"
    file.write_text('{"permissions": {"deny": ["Bash"]}')
    with served("hello") as api:
        refused = place.run(api, "-p", "hi", "--dangerously-skip-permissions")
        told = place.run(api, "tool", "run", "Bash", "--input", '{"command": "touch made"}', "--yes")
        without = place.run(api, "-p", "hi", "--setting-sources", "project,local")

        assert (refused.returncode, refused.stdout, told.returncode) == (2, "", 2)
        assert f"{file}, line 1, column 35: it is not JSON" in refused.stderr
        assert "--setting-sources" in refused.stderr
        assert not (place.project / "made").exists()
        assert (without.returncode, without.stdout, len(api.requests)) == (0, "hello\n", 1)
