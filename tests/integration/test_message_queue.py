"""Prompts that come while a turn runs, through `toolpost -p --input-format stream-json` and a scripted model."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from mock_messages_api import Gate, MockMessagesApi, Request, Step, Turn, pause, tool_use, turn

TOOLPOST = str(Path(sys.executable).with_name("toolpost"))
LIMIT = 60.0
STREAM = ("--input-format", "stream-json", "--output-format", "stream-json", "--verbose")


class Driven:
    """A program that is driven over its standard input and output."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self.lines: list[dict[str, Any]] = []

    def prompt(self, text: str, **more: Any) -> None:
        self._write({"type": "user", "message": {"role": "user", "content": text}, **more})

    def control(self, subtype: str, **request: Any) -> None:
        self._write({"type": "control_request", "request_id": subtype, "request": {"subtype": subtype, **request}})

    def raw(self, *lines: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write("".join(lines))
        self._process.stdin.flush()

    def until(self, kind: str) -> dict[str, Any]:
        """Read on to a line of a type."""
        assert self._process.stdout is not None
        while line := self._process.stdout.readline():
            self.lines.append(json.loads(line))
            if self.lines[-1]["type"] == kind:
                return self.lines[-1]
        raise AssertionError(f"no {kind} came: {self.lines}")

    def end(self) -> int:
        """Close standard input and wait for the end."""
        out, _ = self._process.communicate(timeout=LIMIT)
        self.lines += [json.loads(line) for line in out.splitlines()]
        return self._process.returncode

    def results(self) -> list[str]:
        return [str(line.get("result")) for line in self.lines if line["type"] == "result"]

    def _write(self, line: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(line) + "\n")
        self._process.stdin.flush()


class Place:
    """A project, and a program that runs there."""

    def __init__(self, folder: Path) -> None:
        self.project, self._home = folder / "project", folder / "home"
        self.project.mkdir()

    @contextmanager
    def driven(self, api: MockMessagesApi, *args: str) -> Iterator[Driven]:
        env = {
            "PATH": os.environ["PATH"],
            "HOME": str(self._home),
            "ANTHROPIC_BASE_URL": api.url,
            "ANTHROPIC_API_KEY": "test",
        }
        command = [TOOLPOST, "-p", *STREAM, "--dangerously-skip-permissions", *args]
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        process = subprocess.Popen(command, cwd=self.project, env=env, text=True, **pipes)
        try:
            yield Driven(process)
        finally:
            process.kill()
            process.wait()

    def operations(self) -> list[tuple[str, str]]:
        """What the transcript says of the queue."""
        (path,) = self._home.glob(".toolpost/projects/*/*.jsonl")
        records = map(json.loads, path.read_text().splitlines())
        return [(record["operation"], record["content"]) for record in records if record["type"] == "queue-operation"]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path.resolve())


def waits_for(file: str, name: str = "t1") -> Any:
    return tool_use("Bash", {"command": f"touch runs; while [ ! -e {file} ]; do sleep 0.02; done; echo over"}, id=name)


def waits_for_task(request: Request) -> Turn:
    """Call a tool that an interrupt ends: it waits for the end of what runs in the background."""
    found = re.search(r"with id (\w+)", str(request.body["messages"]))
    assert found is not None
    return turn(tool_use("TaskOutput", {"task_id": found.group(1), "timeout": 60_000}, id="t2"))


def texts(request: Request) -> list[str]:
    """The texts of the last message, beside results of calls."""
    return [block["text"] for block in request.body["messages"][-1]["content"] if block["type"] == "text"]


def test_a_prompt_for_next_is_read_with_the_results_of_the_turn_that_runs(place: Place) -> None:
    script: list[Step] = [turn(waits_for("go")), "Both done."]
    with MockMessagesApi(script).run_in_thread() as api, place.driven(api) as run:
        run.prompt("begin")
        run.until("assistant")
        run.prompt("and that too", priority="next", uuid="11111111-0000-4000-8000-000000000001")
        run.control("interrupt_nothing")  # its answer says that the prompt was read as well
        run.until("control_response")
        (place.project / "go").touch()
        run.until("result")
        assert run.end() == 0

    assert texts(api.requests[1]) == ["and that too"]
    assert run.results() == ["Both done."]
    assert place.operations() == [("enqueue", "and that too"), ("dequeue", "and that too")]


def test_prompts_without_a_priority_have_results_of_their_own_in_their_order(place: Place) -> None:
    script: list[Step] = [turn(waits_for("go")), "One.", "Two.", "Three."]
    with MockMessagesApi(script).run_in_thread() as api, place.driven(api) as run:
        run.prompt("one")
        run.until("assistant")
        run.prompt("two")
        run.prompt("three")
        (place.project / "go").touch()
        assert run.end() == 0

    assert run.results() == ["One.", "Two.", "Three."]
    assert [texts(request)[-1] for request in (api.requests[0], *api.requests[2:])] == ["one", "two", "three"]


def test_a_prompt_for_now_ends_what_runs_and_is_read_before_all_others(place: Place) -> None:
    behind = tool_use("Bash", {"command": "sleep 1000", "run_in_background": True}, id="t1")
    script: list[Step] = [turn(behind), waits_for_task, "Now.", "Later."]
    with MockMessagesApi(script).run_in_thread() as api, place.driven(api) as run:
        run.prompt("begin")
        while run.until("assistant")["message"]["content"][0]["name"] != "TaskOutput":
            pass
        run.prompt("later")
        run.prompt("now", priority="now")
        ended = run.until("result")  # the answer with the call may still come to its end
        assert run.end() == 0

    assert ended["terminal_reason"] in ("aborted_tools", "aborted_streaming")
    assert run.results()[1:] == ["Now.", "Later."]
    assert [texts(request)[-1] for request in api.requests[2:]] == ["now", "later"]


def test_lines_that_can_not_be_used_cost_only_themselves(place: Place) -> None:
    with MockMessagesApi(["One.", "Two."]).run_in_thread() as api, place.driven(api) as run:
        run.raw(
            "\n", "\r\n", "nonsense\n", '{"type": "user", "message": {"role": "user", "content": [{"type": "text"}]}}\n'
        )
        run.control("teleport")
        refused = run.until("control_response")
        run.prompt("one")
        run.until("result")
        run.prompt("two")
        run.until("result")
        run.end()

    assert refused["response"]["subtype"] == "error"
    assert "'teleport' is not supported" in refused["response"]["error"]
    bad = [line["line"] for line in run.lines if line.get("subtype") == "bad_input_line"]
    assert bad == [3, 4]
    assert run.results() == ["One.", "Two."]


def test_usage_is_that_of_each_turn_and_the_cost_is_that_of_the_session(place: Place) -> None:
    used = {"input_tokens": 10, "output_tokens": 20, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
    script: list[Step] = [turn(tool_use("Bash", {"command": "true"}), usage=used), *[turn("Yes.", usage=used)] * 2]
    with MockMessagesApi(script).run_in_thread() as api, place.driven(api) as run:
        run.prompt("one")
        first = run.until("result")
        run.prompt("two")
        second = run.until("result")
        run.end()

    tokens = [(result["usage"]["input_tokens"], result["usage"]["output_tokens"]) for result in (first, second)]
    assert tokens == [(20, 40), (10, 20)]
    assert second["total_cost_usd"] == pytest.approx(first["total_cost_usd"] * 1.5)
    (model,) = second["modelUsage"].values()
    assert (model["inputTokens"], model["outputTokens"]) == (30, 60)


def test_two_interrupts_at_once_end_one_turn_and_say_why(place: Place) -> None:
    gate = Gate()
    with MockMessagesApi([turn("I was", pause(gate)), "Yes."]).run_in_thread() as api, place.driven(api) as run:
        run.prompt("begin")
        run.until("assistant")
        run.control("interrupt")
        run.control("interrupt")
        ended = run.until("result")
        run.prompt("and now?")
        run.until("result")
        assert run.end() == 0

    assert ended["errors"] == ["The run was interrupted while the model answered."]
    assert [line["type"] for line in run.lines].count("result") == 2
    assert run.results()[-1] == "Yes."


def test_an_interrupt_may_take_back_what_waits(place: Place) -> None:
    script: list[Step] = [turn(waits_for("never")), "Never."]
    with MockMessagesApi(script).run_in_thread() as api, place.driven(api) as run:
        run.prompt("begin")
        run.until("assistant")
        run.prompt("two", uuid="11111111-0000-4000-8000-000000000002")
        run.control("interrupt", cancel_queued=True)
        answer = run.until("control_response")
        run.until("result")
        run.end()

    assert answer["response"]["response"] == {
        "still_queued": [],
        "cancelled": ["11111111-0000-4000-8000-000000000002"],
    }
    assert len(api.requests) == 1
    assert place.operations() == [("enqueue", "two"), ("remove", "two")]
