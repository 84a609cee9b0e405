from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from toolpost import HookAnswer, HookJob, PluginPlace, Processes, SessionScope, env_files
from toolpost.testing import PlainProcesses, ServiceMap
from toolpost_hook_runner_command import CommandRunner

PAYLOAD = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "echo ü"}}


@pytest.fixture(params=["alone", "service"])
def services(request: pytest.FixtureRequest) -> ServiceMap:
    return ServiceMap({Processes: PlainProcesses()} if request.param == "service" else {})


@pytest.fixture
def scope(tmp_path: Path, services: ServiceMap) -> SessionScope:
    project = tmp_path / "my project"
    project.mkdir()
    return SessionScope(
        session_id="session-1",
        project=project,
        cwd=project,
        home=tmp_path,
        config_dir=tmp_path,
        env={"PATH": os.environ["PATH"], "OTEL_X": "1", "MINE": "yes"},
        services=services,
    )


async def run(
    scope: SessionScope,
    command: str,
    timeout: float = 20.0,
    payload: Mapping[str, Any] = PAYLOAD,
    plugin: CommandRunner | None = None,
    **entry: Any,
) -> HookAnswer:
    handler = {"type": "command", "command": command, **entry}
    job = HookJob(event="PreToolUse", handler=handler, payload=payload, timeout=timeout)
    return await (plugin or CommandRunner()).run(job, scope)


def put(scope: SessionScope, name: str, text: str) -> None:
    (scope.project / name).write_text(text)


def content(scope: SessionScope, name: str) -> str:
    return (scope.project / name).read_text()


async def test_the_event_is_one_line_of_json_on_standard_input(scope: SessionScope) -> None:
    answer = await run(scope, "wc -l")
    assert answer.text.strip() == "1"
    await run(scope, "cat > in")
    line = content(scope, "in")
    assert json.loads(line) == PAYLOAD
    assert "ü" in line


async def test_plain_output_is_text(scope: SessionScope) -> None:
    answer = await run(scope, "echo hello")
    assert (answer.status, answer.text, answer.output, answer.exit_code) == ("ok", "hello", {}, 0)


async def test_a_json_object_is_the_output_and_no_text(scope: SessionScope) -> None:
    answer = await run(scope, """echo '{"decision": "block", "reason": "no"}'""")
    assert answer.output == {"decision": "block", "reason": "no"}
    assert answer.text == ""


async def test_the_last_answer_on_a_noisy_output_is_found(scope: SessionScope) -> None:
    lines = ["Loading profile…", '{"level": "info"}', '{"continue": true}', "{", '"decision":', '{"x": 1}}', "bye"]
    put(scope, "out", "\n".join(lines))
    assert (await run(scope, "cat out")).output == {"decision": {"x": 1}}


async def test_an_answer_behind_very_much_noise_that_looks_like_one_is_found_at_once(scope: SessionScope) -> None:
    put(scope, "noise", '{\n{"x\n' * 100_000 + '{"decision": "block", "reason": "found"}\n')
    answer = await run(scope, "cat noise", timeout=20.0)
    assert answer.output == {"decision": "block", "reason": "found"}
    assert answer.duration < 10.0


async def test_a_byte_order_mark_is_no_part_of_the_answer(scope: SessionScope) -> None:
    answer = await run(scope, """printf '\\357\\273\\277{"decision": "block"}'""")
    assert answer.output == {"decision": "block"}


async def test_json_that_is_no_answer_stays_text_on_a_noisy_output(scope: SessionScope) -> None:
    answer = await run(scope, """echo Example:; echo '{"name": 1}'""")
    assert answer.output == {}
    assert answer.text == 'Example:\n{"name": 1}'


@pytest.mark.parametrize(
    "output",
    ['{"decision": ', "[1]", '"text"', "{" * 10_000, '{"a":' * 100_000],
    ids=["cut", "list", "text", "open", "deep"],
)
async def test_output_that_is_no_object_is_text(scope: SessionScope, output: str) -> None:
    put(scope, "out", output)
    answer = await run(scope, "cat out")
    assert (answer.status, answer.output, answer.text) == ("ok", {}, output.strip())


async def test_exit_2_blocks_with_standard_error_whatever_the_output_says(scope: SessionScope) -> None:
    answer = await run(scope, """echo '{"decision": "approve"}'; echo "too risky" >&2; exit 2""")
    assert (answer.status, answer.reason, answer.exit_code) == ("blocked", "too risky", 2)


async def test_exit_2_prefers_the_reason_of_json_that_blocks(scope: SessionScope) -> None:
    answer = await run(scope, """echo '{"decision": "block", "reason": "json"}'; echo plain >&2; exit 2""")
    assert (answer.status, answer.reason) == ("blocked", "json")


async def test_another_code_is_a_failure_with_the_first_line_of_standard_error(scope: SessionScope) -> None:
    answer = await run(scope, "echo partial; echo first >&2; echo second >&2; exit 3")
    assert (answer.status, answer.reason, answer.exit_code) == ("failed", "exit code 3: first", 3)
    assert answer.errors == "first\nsecond"


async def test_another_code_with_json_that_is_no_answer_is_a_failure(scope: SessionScope) -> None:
    answer = await run(scope, """echo '{"level": "error"}'; echo 'no disk' >&2; exit 1""")
    assert (answer.status, answer.reason) == ("failed", "exit code 1: no disk")


async def test_another_code_with_json_is_decided_by_the_json(scope: SessionScope) -> None:
    answer = await run(scope, """echo '{"continue": false}'; exit 1""")
    assert (answer.status, answer.output) == ("ok", {"continue": False})


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"command": "no_such_program_here"}, "could not start"),
        ({"command": "/dev/null"}, "could not start"),
        ({"command": "no_such_program_here", "args": ["x"]}, "no_such_program_here"),
        ({"command": ""}, "'command'"),
        ({"command": "true", "args": "x"}, "'args'"),
        ({"command": "true", "shell": "fish"}, "sh, bash, powershell"),
        ({"command": "a\0b"}, "could not be started"),
    ],
)
async def test_what_can_not_start_is_a_failure_that_says_why(
    scope: SessionScope, entry: dict[str, Any], words: str
) -> None:
    answer = await run(scope, **entry)
    assert answer.status == "failed"
    assert words in answer.reason


async def test_a_killed_hook_is_a_failure(scope: SessionScope) -> None:
    answer = await run(scope, "kill -9 $$")
    assert (answer.status, answer.reason) == ("failed", "was ended by signal 9")


async def test_the_environment_names_the_project_and_the_session_in_both_ways(scope: SessionScope) -> None:
    answer = await run(scope, "env", payload=PAYLOAD | {"effort": {"level": "high"}})
    env = dict(line.split("=", 1) for line in answer.text.splitlines() if "=" in line)
    for prefix in ("TOOLPOST", "CLAUDE"):
        assert env[f"{prefix}_PROJECT_DIR"] == str(scope.project)
        assert env[f"{prefix}_PID"] == str(os.getpid())
        assert env[f"{prefix}_EFFORT"] == "high"
    for prefix in ("TOOLPOST", "CLAUDE_CODE"):
        assert env[f"{prefix}_SESSION_ID"] == "session-1"
        assert env[f"{prefix}_CHILD_SESSION"] == "1"
    assert env["CLAUDECODE"] == env["TOOLPOST"] == "1"
    assert env["MINE"] == "yes"
    assert "OTEL_X" not in env


async def test_the_project_placeholder_works_in_the_shell_with_blanks_in_the_path(scope: SessionScope) -> None:
    script = scope.project / "check.sh"
    script.write_text("#!/bin/sh\necho ran\n")
    script.chmod(0o755)
    assert (await run(scope, '"${CLAUDE_PROJECT_DIR}"/check.sh')).text == "ran"
    assert (await run(scope, '"$TOOLPOST_PROJECT_DIR/check.sh"')).text == "ran"
    assert (await run(scope, "${TOOLPOST_PROJECT_DIR}/check.sh", args=[])).text == "ran"


async def test_the_exec_form_passes_arguments_to_the_letter(scope: SessionScope) -> None:
    answer = await run(scope, "printf", args=["%s|", "a b", "$HOME", "${CLAUDE_PROJECT_DIR}/x", "*"])
    assert answer.text == f"a b|$HOME|{scope.project}/x|*|"


@pytest.mark.parametrize("event", ["SessionStart", "Setup", "CwdChanged", "FileChanged"])
async def test_it_may_leave_variables_for_later_commands(event: str, scope: SessionScope) -> None:
    handler = {"type": "command", "command": 'echo export A=1 >> "$CLAUDE_ENV_FILE"; echo "$TOOLPOST_ENV_FILE"'}
    job = HookJob(event=event, handler=handler, payload=PAYLOAD, timeout=20.0)
    for _ in range(2):  # what it left before goes when it runs again
        answer = await CommandRunner().run(job, scope)
        (file,) = env_files(scope.config_dir, scope.session_id, {})
        assert (answer.text, file.read_text()) == (str(file), "export A=1\n")


async def test_at_other_events_there_is_no_such_file(scope: SessionScope) -> None:
    assert (await run(scope, 'echo "${CLAUDE_ENV_FILE-none}"')).text == "none"


async def test_a_hook_of_a_plugin_knows_where_that_is_and_what_it_was_set_to(scope: SessionScope) -> None:
    place = PluginPlace(root=scope.project, data=scope.home / "data", options={"level": 3, "motto": "é"})
    said = "$CLAUDE_PLUGIN_ROOT|$TOOLPOST_PLUGIN_DATA|$CLAUDE_PLUGIN_OPTION_LEVEL|$TOOLPOST_PLUGIN_OPTION_MOTTO"
    handler = {"type": "command", "command": f'echo "{said}"'}
    job = HookJob(event="Stop", handler=handler, payload={}, timeout=20.0, plugin=place)
    answer = await CommandRunner().run(job, scope)
    assert answer.text == f"{place.root}|{place.data}|3|é"
    assert place.data.is_dir()


async def test_shell_bash_is_bash(scope: SessionScope) -> None:
    assert (await run(scope, "[[ a == a ]] && echo ${BASH_VERSION:+bash}", shell="bash")).text == "bash"


async def test_it_runs_in_the_project_or_the_nearest_folder_that_is_there(scope: SessionScope) -> None:
    assert (await run(scope, "pwd -P")).text == str(scope.project.resolve())
    scope.project.rmdir()
    assert (await run(scope, "pwd -P")).text == str(scope.project.parent.resolve())


async def test_a_hook_that_does_not_read_its_input_is_fine(scope: SessionScope) -> None:
    answer = await run(scope, "exec <&-; echo ok", payload={"text": "x" * 2_000_000})
    assert (answer.status, answer.text) == ("ok", "ok")


async def test_much_output_is_cut_and_the_hook_still_ends(scope: SessionScope) -> None:
    plugin = CommandRunner(max_output=1_000)
    answer = await run(scope, "head -c 3000000 /dev/zero | tr '\\0' x; echo done >&2", plugin=plugin)
    assert (answer.status, len(answer.text), answer.errors) == ("ok", 1_000, "done")


async def test_json_that_was_cut_is_a_failure_that_says_so(scope: SessionScope) -> None:
    plugin = CommandRunner(max_output=1_000)
    answer = await run(
        scope, "printf '{\"systemMessage\": \"'; head -c 3000 /dev/zero | tr '\\0' x; echo '\"}'", plugin=plugin
    )
    assert (answer.status, answer.exit_code) == ("failed", 0)
    assert "its JSON was cut: of 3,022 bytes, 2,022 were not kept" in answer.reason


async def test_a_failure_shows_the_beginning_of_a_line_that_never_ends(scope: SessionScope) -> None:
    answer = await run(scope, "head -c 100000 /dev/zero | tr '\\0' x >&2; exit 1")
    assert answer.reason == "exit code 1: " + "x" * 500


@pytest.mark.timeout(30)
async def test_the_time_out_ends_the_whole_tree(scope: SessionScope) -> None:
    answer = await run(scope, "sleep 600 & echo $! > child; sleep 600", timeout=0.5)
    assert (answer.status, answer.exit_code) == ("timed_out", None)
    assert "0.5 s" in answer.reason
    await gone(int(content(scope, "child")))


@pytest.mark.timeout(30)
@pytest.mark.parametrize("services", ["alone"], indirect=True)  # the service's own tests show the same of the service
async def test_a_grandchild_that_holds_the_output_does_not_hold_the_answer(scope: SessionScope) -> None:
    answer = await run(scope, "sleep 600 & echo $! > child; echo answered")
    os.kill(int(content(scope, "child")), signal.SIGKILL)
    assert (answer.status, answer.text) == ("ok", "answered")


@pytest.mark.timeout(30)
async def test_cancelling_ends_the_hook(scope: SessionScope) -> None:
    pipe = scope.project / "started"
    os.mkfifo(pipe)
    task = asyncio.create_task(run(scope, "echo $$ > started; exec sleep 600"))
    pid = int(await asyncio.to_thread(pipe.read_text))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await gone(pid)


async def gone(pid: int) -> None:
    try:
        watched = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    ended = asyncio.Event()
    asyncio.get_running_loop().add_reader(watched, ended.set)
    try:
        await ended.wait()
    finally:
        asyncio.get_running_loop().remove_reader(watched)
        os.close(watched)


@pytest.mark.parametrize("first", ["echo '{\"async\": true}'", 'printf \'{"async":true, "asyncTimeout": 90000}\''])
async def test_a_hook_that_says_so_goes_on_in_the_background(first: str, scope: SessionScope) -> None:
    answer = await run(
        scope, f'{first}; while ! [ -e go ]; do sleep 0.02; done; echo; echo \'{{"systemMessage": "built"}}\''
    )
    assert (answer.status, answer.output["async"]) == ("ok", True)
    assert answer.later is not None
    put(scope, "go", "")
    later = await answer.later
    assert (later.status, later.output) == ("ok", {"systemMessage": "built"})


async def test_its_time_goes_on_as_well(scope: SessionScope) -> None:
    answer = await run(scope, "echo '{\"async\": true}'; sleep 60", timeout=0.5)
    assert answer.later is not None
    assert (await answer.later).status == "timed_out"


async def test_one_that_is_called_off_there_ends(scope: SessionScope) -> None:
    answer = await run(scope, "echo $$ > pid; echo '{\"async\": true}'; exec sleep 60")
    assert isinstance(answer.later, asyncio.Task)
    answer.later.cancel()
    await asyncio.wait({answer.later})
    with pytest.raises(ProcessLookupError):
        os.kill(int(content(scope, "pid")), 0)


@pytest.mark.parametrize("text", ['{"async": false}', 'x\n{"async": true}', '{"async": "true"}', "[true]"])
async def test_anything_else_in_the_first_line_is_waited_for(text: str, scope: SessionScope) -> None:
    put(scope, "said", text)
    assert (await run(scope, "cat said")).later is None


async def test_it_may_ask_for_less_time_there(scope: SessionScope) -> None:
    answer = await run(scope, 'echo \'{"async": true, "asyncTimeout": 100}\'; sleep 60')
    assert answer.later is not None
    later = await answer.later
    assert (later.status, "0.1 s" in later.reason) == ("timed_out", True)
