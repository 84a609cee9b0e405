"""What happened to sessions of others, from outside: transcripts that were cut, killed, shared, huge, or in the way."""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from forked import run_program
from mock_messages_api import Gate, MockMessagesApi, Step, pause, tool_use, turn
from tests.benchmarks.sessions import lay

from toolpost_core.transcripts.store import Store

TOOLPOST = str(Path(sys.executable).with_name("toolpost"))
BYPASS = ("--dangerously-skip-permissions",)
STREAM = ("--output-format", "stream-json", "--verbose")
LIMIT = 60.0


class Place:
    """A project with a state folder, and the program in it."""

    def __init__(self, folder: Path) -> None:
        self.project, self.state, self._home = folder / "project", folder / "state", folder / "home"
        self.project.mkdir()

    def start(self, api: MockMessagesApi, *args: str, cwd: Path | None = None, **options: Any) -> subprocess.Popen[str]:
        env = self._env(api)
        streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.Popen(
            [TOOLPOST, *args], cwd=cwd or self.project, text=True, **{"env": env, **streams, **options}
        )

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

    def transcripts(self) -> list[Path]:
        return sorted(self.state.glob("projects/*/*.jsonl"))

    def transcript(self) -> Path:
        (path,) = self.transcripts()
        return path


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path.resolve())


@contextmanager
def served(*script: Step) -> Iterator[MockMessagesApi]:
    """Serve a script; a request that the real service would refuse fails the test at the end."""
    with MockMessagesApi(script).run_in_thread() as api:
        yield api


def bash(command: str, name: str = "t1") -> Any:
    return tool_use("Bash", {"command": command}, id=name)


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def is_linear(path: Path) -> bool:
    """Whether each record of the chain names the one before it."""
    chain = [record for record in records(path) if "parentUuid" in record]
    return [record["parentUuid"] for record in chain] == [None, *(record["uuid"] for record in chain[:-1])]


def texts(api: MockMessagesApi, request: int = -1) -> str:
    return json.dumps(api.requests[request].body["messages"])


def until(condition: Any) -> Any:
    """Wait for another process; the time limit of the tests bounds it."""
    while not (found := condition()):
        time.sleep(0.01)
    return found


def test_case_1_a_cut_off_last_line_costs_only_itself(place: Place) -> None:
    with served("One.", "Two.", "Three.", "Back.") as api:
        place.run(api, "-p", "first")
        for prompt in ("second", "third"):
            place.run(api, "-p", prompt, "--continue")
        path = place.transcript()
        message = path.read_bytes().rindex(b'{"type":"assistant"')
        os.truncate(path, path.read_bytes().index(b"\n", message) - 20)
        done = place.run(api, "-p", "fourth", "--continue")

    assert (done.returncode, done.stdout) == (0, "Back.\n")
    assert "is damaged and was passed over" in done.stderr
    assert all(word in texts(api) for word in ("first", "One.", "second", "Two.", "third", "fourth"))
    assert "Three." not in texts(api)


def test_case_2_what_is_appended_after_a_stub_is_whole(place: Place) -> None:
    with served("One.", "Two.", "Three.") as api:
        place.run(api, "-p", "first")
        path = place.transcript()
        with path.open("ab") as file:
            file.write(b'{"type":"assistant","uuid":"stu')
        place.run(api, "-p", "second", "--continue")
        place.run(api, "-p", "third", "--continue")

    broken = [line for line in path.read_text().splitlines() if not _parses(line)]
    assert broken == ['{"type":"assistant","uuid":"stu']
    assert all(word in texts(api) for word in ("first", "One.", "second", "Two.", "third"))


def _parses(line: str) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    return True


@pytest.mark.requirement("transcript.survives_a_kill")
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_cases_4_and_8_a_call_that_a_kill_interrupted_has_a_result_that_says_so(
    place: Place, how: signal.Signals
) -> None:
    with served(turn(bash("echo $$ > pid; exec sleep 600")), "Back.") as api:
        process = place.start(api, "-p", "go", *BYPASS)
        told = until(lambda: _text(place.project / "pid") or process.poll() is not None)
        assert process.poll() is None, process.communicate()
        pid = int(told)
        process.send_signal(how)
        process.communicate(timeout=LIMIT)
        until(lambda: b"sleep" not in _bytes(Path(f"/proc/{pid}/cmdline")))
        kept = place.transcript().read_text()
        done = place.run(api, "-p", "on", "--continue")

    assert process.returncode == (-9 if how == signal.SIGKILL else 143)
    assert (done.returncode, done.stdout) == (0, "Back.\n")
    (result,) = api.requests[1].tool_results
    assert (result["tool_use_id"], result["is_error"]) == ("t1", True)
    assert "rejected" not in kept
    assert "refused" not in kept


def _text(path: Path) -> str:
    return _bytes(path).decode().strip()


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def test_case_5_of_three_calls_one_of_which_was_lost_the_other_two_go_on(place: Place) -> None:
    calls = turn(*(bash(f"echo out-{name}", name) for name in ("ta", "tb", "tc")))
    with served(calls, "Done.", "Back.") as api:
        place.run(api, "-p", "go", *BYPASS)
        path = place.transcript()
        kept = [line for line in path.read_text().splitlines(keepends=True) if '"id":"tb"' not in line]
        path.write_text("".join(kept))
        done = place.run(api, "-p", "on", "--continue")

    assert done.returncode == 0
    sent = api.requests[2].body["messages"]
    results = [block["tool_use_id"] for block in sent[2]["content"] if block["type"] == "tool_result"]
    assert results == ["ta", "tc"]
    assert "out-tb" not in json.dumps(sent)


@pytest.mark.requirement("transcript.one_writer")
def test_case_6_two_processes_never_write_to_one_session(place: Place) -> None:
    gate = Gate()
    with served("One.", turn("Two", pause(gate), "."), "Copied.", "Back.") as api:
        place.run(api, "-p", "first")
        path = place.transcript()
        first = place.start(api, "-p", "second", "--continue")
        until(lambda: len(api.requests) == 2)
        refused = place.run(api, "-p", "third", "--resume", path.stem)
        copy = place.run(api, "-p", "fourth", "--resume", path.stem, "--fork-session", *STREAM)
        assert first.poll() is None
        first.kill()
        first.communicate()
        gate.open()
        back = place.run(api, "-p", "fifth", "--resume", path.stem)

    assert refused.returncode == 1
    assert f"pid {first.pid}" in refused.stderr
    assert json.loads(copy.stdout.splitlines()[0])["session_id"] != path.stem
    assert (back.returncode, back.stdout) == (0, "Back.\n")
    assert is_linear(path)
    assert all(is_linear(other) for other in place.transcripts())
    assert all(word in texts(api) for word in ("first", "second", "fifth"))
    assert "fourth" not in texts(api)


ROUNDS = 4


@pytest.mark.requirement("transcript.one_writer")
def test_of_two_that_go_on_at_once_each_is_whole_or_refused(place: Place) -> None:
    with served(*["Yes."] * (1 + 2 * ROUNDS)) as api:
        place.run(api, "-p", "first")
        path = place.transcript()
        said = 1
        for number in range(ROUNDS):
            pair = [place.start(api, "-p", f"prompt-{number}-{name}", "--continue") for name in "ab"]
            for process, name in zip(pair, "ab", strict=True):
                out, err = process.communicate(timeout=LIMIT)
                taken = process.returncode == 0
                assert (out, err) == ("Yes.\n", "") if taken else "another process" in err
                assert (f"prompt-{number}-{name}" in path.read_text()) == taken
                said += taken
            assert is_linear(path)

    assert said > ROUNDS
    assert sum(record["type"] == "user" for record in records(path)) == said
    assert place.transcripts() == [path]


def test_case_9_a_huge_session_resumes_from_its_last_compaction_and_is_listed(place: Place) -> None:
    path = Store(place.state).path(place.project, "huge")
    lay(path, 50_000, bytes_each=4_000, compacted=True, project=place.project)
    assert path.stat().st_size > 150_000_000

    def small() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (900_000_000, 900_000_000))

    with served("Back.") as api:
        listed = json.loads(place.run(api, "sessions", "list", "--json").stdout)
        started = time.monotonic()
        done = place.run(api, "-p", "on", "--resume", "huge", preexec_fn=small)
        taken = time.monotonic() - started

    assert (done.returncode, done.stdout, done.stderr) == (0, "Back.\n", "")
    assert taken < 15
    assert "What was said." in texts(api)
    assert [session["id"] for session in listed] == ["huge"]
    assert listed[0]["first_prompt"].startswith("Prompt 0")


def test_case_10_a_huge_result_is_kept_beside_the_transcript(place: Place) -> None:
    with served(turn(bash("seq 1 2000000")), "Done.", "Back.") as api:
        place.run(api, "-p", "go", *BYPASS)
        done = place.run(api, "-p", "on", "--continue")

    assert done.returncode == 0
    assert max(map(len, place.transcript().read_bytes().splitlines())) < 200_000
    shown, again = (json.dumps(request.body["messages"][2]["content"][0]["content"]) for request in api.requests[1:])
    assert again == shown
    (kept,) = re.findall(r"(/[^\s;\"\\]+\.\w+)", shown)[:1]
    assert Path(kept).read_text().rstrip() == "\n".join(map(str, range(1, 2_000_001)))


def test_case_12_where_the_disk_is_full_it_is_said_once_and_the_run_goes_on(place: Place) -> None:
    calls = [turn(bash(f"echo out-{n}", f"t{n}")) for n in range(3)]

    def full() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (4_000, 4_000))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    with served(*calls, "Done.", "Back.") as api:
        done = place.run(api, "-p", "x" * 1_500, *BYPASS, preexec_fn=full)
        back = place.run(api, "-p", "on", "--continue")

    assert (done.returncode, done.stdout) == (0, "Done.\n")
    assert done.stderr.count("can't be written") == 1
    assert [result["content"] for request in api.requests[1:4] for result in request.tool_results[-1:]] == [
        "out-0",
        "out-1",
        "out-2",
    ]
    assert back.returncode == 0


def test_case_13_folders_with_similar_names_have_sessions_of_their_own(place: Place) -> None:
    folders = {name: place.project / name for name in ("a_b", "a-b", "a.b")}
    for folder in folders.values():
        folder.mkdir()
    link = place.project / "a b"
    link.symlink_to(folders["a.b"])
    with served(*["Hello."] * 7) as api:
        for name, folder in folders.items():
            place.run(api, "-p", f"I am {name}.", cwd=folder)
        for folder in (*folders.values(), link):
            place.run(api, "-p", "Who?", "--continue", cwd=folder)

    asked = [re.findall(r"I am (\S+)\.", texts(api, request)) for request in range(3, 7)]
    assert asked == [["a_b"], ["a-b"], ["a.b"], ["a.b"]]


def test_a_copy_belongs_to_the_folder_that_it_was_made_in(place: Place) -> None:
    """A project that was moved, or a work tree beside it, goes on with what was said elsewhere."""
    moved = place.project.with_name("moved")
    with served(*["Hello."] * 3) as api:
        place.run(api, "-p", "I am the first.")
        first = place.transcript()
        place.project.rename(moved)
        refused = place.run(api, "-p", "Who?", "--continue", cwd=moved)
        place.run(api, "-p", "Now here.", "--resume", first.stem, "--fork-session", cwd=moved)
        gone_on = place.run(api, "-p", "Who?", "--continue", cwd=moved)
        listed = place.run(api, "sessions", "list", "--json", cwd=moved)

    assert (refused.returncode, "--resume ID" in refused.stderr) == (1, True)
    assert gone_on.returncode == 0, gone_on.stderr
    assert "I am the first." in texts(api)
    assert "Now here." in texts(api)
    (copy,) = json.loads(listed.stdout)
    assert copy["forked_from"] == first.stem


def test_to_resume_without_saying_what_names_what_there_is(place: Place) -> None:
    with served("One.") as api:
        place.run(api, "-p", "mend the build")
        done = place.run(api, "--resume")

    assert done.returncode == 2
    assert f"{place.transcript().stem}  mend the build" in done.stderr


def test_a_prune_leaves_the_session_that_runs(place: Place) -> None:
    gate = Gate()
    with served("One.", turn("Two.", pause(gate))) as api:
        place.run(api, "-p", "old")
        old = place.transcript()
        running = place.start(api, "-p", "running")
        until(lambda: any('"Two."' in path.read_text() for path in place.transcripts()))
        for path in place.transcripts():
            os.utime(path, (1, 1))
        pruned = json.loads(place.run(api, "sessions", "prune", "--json").stdout)
        gate.open()
        out, _ = running.communicate(timeout=LIMIT)

    assert pruned["sessions"] == [str(old)]
    assert [Path(path).stem for path in pruned["in_use"]] == [place.transcript().stem]
    assert (running.returncode, out) == (0, "Two.\n")


def test_old_sessions_go_once_a_day_beside_a_run(place: Place) -> None:
    gate = Gate()
    with served("One.", turn("Two.", pause(gate))) as api:
        place.run(api, "-p", "old")
        old, mark = place.transcript(), place.state / "cache" / "sessions-pruned"
        os.utime(old, (1, 1))
        mark.touch()
        os.utime(mark, (1, 1))
        running = place.start(api, "-p", "new")
        until(lambda: not old.exists())
        gate.open()
        out, err = running.communicate(timeout=LIMIT)

    assert (running.returncode, out, err) == (0, "Two.\n", "")
    assert len(place.transcripts()) == 1
