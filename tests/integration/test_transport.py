"""What happens between the program and the service: retries, silence, limits, models, and what they cost."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from fake_session import of_type, result_of, run
from forked import run_program
from mock_messages_api import (
    MockMessagesApi,
    Request,
    Step,
    error,
    ping,
    redacted_thinking,
    repeat,
    stall,
    stream_error,
    thinking,
    tool_use,
    turn,
)
from served_session import following, opened, until

from toolpost import Retrying, Streaming

NOW = {"retry-after": "0"}
BUSY = error(529, "overloaded_error", "Overloaded", NOW)
NO_ROOM = "input length and `max_tokens` exceed context limit: 995000 + {} > 1000000, decrease input length"


class Place:
    """A project, and how to run the program there."""

    def __init__(self, folder: Path) -> None:
        self.project = folder / "project"
        self.state = folder / "state"
        self.project.mkdir()
        self._env = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder / "home"),
            "TOOLPOST_CONFIG_DIR": str(self.state),
            "ANTHROPIC_API_KEY": "test",
        }

    def run(
        self, script: Sequence[Step], *args: str, **env: str
    ) -> tuple[subprocess.CompletedProcess[str], list[Request]]:
        with MockMessagesApi(script).run_in_thread() as api:
            return self.against(api, *args, **env), api.requests

    def against(self, api: MockMessagesApi, *args: str, **env: str) -> subprocess.CompletedProcess[str]:
        return run_program(args, cwd=self.project, env={**self._env, "ANTHROPIC_BASE_URL": api.url, **env})


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path.resolve())


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "test")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "")
    folder = (tmp_path / "project").resolve()
    folder.mkdir()
    return folder


def thoughts_in(request: Request) -> list[Any]:
    blocks = [block for message in request.body["messages"] for block in message["content"]]
    return [block for block in blocks if block["type"] in ("thinking", "redacted_thinking")]


# Retries.


def test_a_wait_that_the_service_asks_for_is_kept_and_seen(place: Place) -> None:
    limited = error(429, "rate_limit_error", "Slow down", {"retry-after": "1"})
    done, (first, second) = place.run([limited, "Hello."], "-p", "go")

    assert (done.returncode, done.stdout) == (0, "Hello.\n")
    assert "Slow down" in done.stderr
    assert "; retrying in 1 s (1/10)\n" in done.stderr
    assert second.arrived - first.finished >= 1.0
    assert first.raw == second.raw


def test_waits_grow_where_the_service_does_not_say(place: Place) -> None:
    script = [*repeat(error(500, "api_error", "oh"), 2), turn(stream_error("overloaded_error")), "Hello."]
    done, requests = place.run(script, "-p", "go", "--output-format", "stream-json", "--verbose")

    lines = [json.loads(line) for line in done.stdout.splitlines()]
    retries = [line for line in lines if line.get("subtype") == "api_retry"]
    assert [(line["attempt"], line["max_retries"], line["error_status"]) for line in retries] == [
        (1, 10, 500),
        (2, 10, 500),
        (3, 10, None),
    ]
    delays = [line["retry_delay_ms"] for line in retries]
    assert delays == sorted(delays)
    assert len(requests) == 4
    assert lines[-1]["result"] == "Hello."


def test_after_the_last_try_the_error_is_told_and_the_session_goes_on_later(place: Place) -> None:
    done, requests = place.run([*repeat(BUSY, 3)], "-p", "first", TOOLPOST_MAX_RETRIES="2")
    assert done.returncode == 1
    assert len(requests) == 3
    assert "Overloaded" in done.stderr.splitlines()[-1]

    again, (request,) = place.run(["Better."], "-p", "second", "--continue")
    assert (again.returncode, again.stdout) == (0, "Better.\n")
    assert "first" in json.dumps(request.body["messages"])


def test_another_model_is_asked_after_three_retries_of_an_overloaded_one(place: Place) -> None:
    script = [*repeat(BUSY, 4), "From the other."]
    done, requests = place.run(script, "-p", "go", "--model", "opus", "--fallback-model", "haiku")

    assert (done.returncode, done.stdout) == (0, "From the other.\n")
    assert len({request.body["model"] for request in requests[:4]}) == 1
    assert requests[4].body["model"] == "claude-haiku-5-5"
    assert [f"({number}/3)" in done.stderr for number in (1, 2, 3)] == [True, True, True]


async def test_a_wait_for_a_retry_is_called_off_at_once(project: Path) -> None:
    waiting = error(529, "overloaded_error", "Overloaded", {"retry-after": "100"})
    async with MockMessagesApi([waiting]) as api, opened(api, project) as session:
        async with following(session) as events:
            await until(lambda: any(isinstance(event.event, Retrying) for event in of_type(events, Streaming)))
            began = time.monotonic()
            session.interrupt()
        assert time.monotonic() - began < 0.2
    assert result_of(events).terminal_reason == "aborted_streaming"


# Silence.


def test_pings_keep_a_long_thought_alive(place: Place) -> None:
    thought = turn(*[part for _ in range(12) for part in (ping(), stall(0.25))], "Hello.")
    done, requests = place.run([thought], "-p", "go", TOOLPOST_STREAM_IDLE_TIMEOUT_MS="1000")
    assert (done.returncode, done.stdout, done.stderr) == (0, "Hello.\n", "")
    assert len(requests) == 1


@pytest.mark.parametrize("silent", [turn(stall(20), "Late."), turn("Late.", delay=20)], ids=["begun", "not begun"])
def test_silence_is_tried_again(place: Place, silent: Step) -> None:
    done, requests = place.run([silent, "Hello."], "-p", "go", TOOLPOST_STREAM_IDLE_TIMEOUT_MS="500")
    assert (done.returncode, done.stdout) == (0, "Hello.\n")
    assert "sent nothing for" in done.stderr
    assert len(requests) == 2


def test_pings_without_end_come_to_an_end(place: Place) -> None:
    endless = turn(*[part for _ in range(200) for part in (ping(), stall(0.05))])
    done, requests = place.run([endless, "Hello."], "-p", "go", TOOLPOST_STREAM_PING_TIMEOUT_MS="600")
    assert (done.returncode, done.stdout) == (0, "Hello.\n")
    assert "signs of life and nothing else" in done.stderr
    assert len(requests) == 2


# Models, effort and thinking.


def test_an_answer_that_finds_no_room_is_asked_for_shorter(place: Place) -> None:
    def refused(request: Request) -> Any:
        return error(400, "invalid_request_error", NO_ROOM.format(request.body["max_tokens"]))

    done, (first, second) = place.run([refused, "Hello."], "-p", "go")
    assert (done.returncode, done.stdout, done.stderr) == (0, "Hello.\n", "")
    assert first.body["max_tokens"] > second.body["max_tokens"] == 4_000


def test_effort_and_thinking_are_asked_for(place: Place) -> None:
    _, (request,) = place.run(["Hi."], "-p", "go", "--effort", "low")
    assert request.body["output_config"] == {"effort": "low"}
    _, (request,) = place.run(["Hi."], "-p", "go", "--model", "claude-haiku-4-5", MAX_THINKING_TOKENS="5000")
    assert request.body["thinking"] == {"type": "enabled", "budget_tokens": 5_000}
    assert request.body["max_tokens"] > 5_000
    assert "output_config" not in request.body

    done, _ = place.run([], "-p", "go", "--effort", "huge")
    assert done.returncode == 2
    assert "low, medium, high, xhigh, max" in done.stderr


def test_the_window_and_its_header_follow_the_suffix(place: Place) -> None:
    done, (request,) = place.run(["Hi."], "-p", "go", "--model", "claude-sonnet-4-5[1m]", "--output-format", "json")
    (used,) = json.loads(done.stdout)["modelUsage"].values()
    assert used["contextWindow"] == 1_000_000
    assert request.body["model"] == "claude-sonnet-4-5"
    assert request.headers["anthropic-beta"] == "context-1m-2025-08-07"


def test_thoughts_go_back_as_they_came_and_to_no_other_model(place: Place) -> None:
    calling = turn(
        thinking("Let me sé.", "EqQB/+=="),
        redacted_thinking("AAAA=="),
        tool_use("Glob", {"pattern": "*"}, id="t1"),
    )
    _, (_, second) = place.run([calling, turn(thinking("Hm.", "xyz"), "Done.")], "-p", "go", "--model", "opus")
    assert thoughts_in(second) == [
        {"type": "thinking", "thinking": "Let me sé.", "signature": "EqQB/+=="},
        {"type": "redacted_thinking", "data": "AAAA=="},
    ]

    _, (same,) = place.run(["Again."], "-p", "on", "--continue", "--model", "opus")
    assert [block.get("signature") for block in thoughts_in(same)] == ["EqQB/+==", None, "xyz"]
    _, (other,) = place.run(["Other."], "-p", "on", "--continue", "--model", "haiku")
    assert thoughts_in(other) == []
    _, (later,) = place.run(["Other."], "-p", "on", "--continue", "--model", "haiku")
    assert later.body["messages"][: len(other.body["messages"]) - 1] == other.body["messages"][:-1]


# What it costs.


def test_what_a_session_costs_is_shown_and_comes_back(place: Place) -> None:
    usage = {"input_tokens": 1_000_000, "output_tokens": 0, "cache_creation_input_tokens": 0}
    priced = turn("Hi.", usage={**usage, "cache_read_input_tokens": 0})
    costs = []
    with MockMessagesApi([priced, priced]).run_in_thread() as api:
        for flags in ((), ("--continue",)):
            done = place.against(api, "-p", "go", "--model", "sonnet", "--output-format", "json", *flags)
            costs.append(json.loads(done.stdout)["total_cost_usd"])
    assert costs == [pytest.approx(2.0, abs=0.01), pytest.approx(4.0, abs=0.01)]

    done, _ = place.run([], "cost", "--json")
    told = json.loads(done.stdout)
    assert told["usd"] == pytest.approx(costs[1])
    model = told["models"]["claude-sonnet-5-5"]
    assert model["requests"] == 2
    assert model["price"]["as_of"].startswith("2026-")
    assert told["totals"]["api_seconds"] > 0
    assert told["unpriced"] == []


def test_lines_and_the_time_of_tools_are_added_up_over_sessions(place: Place) -> None:
    for name in ("a", "b"):
        write = tool_use("Write", {"file_path": str(place.project / name), "content": "1\n2\n3\n"}, id=f"t{name}")
        place.run([turn(write), "Done."], "-p", "go", "--permission-mode", "acceptEdits")
    done, _ = place.run([], "cost", "--json")
    totals = json.loads(done.stdout)["totals"]
    assert (totals["lines_added"], totals["lines_removed"]) == (6, 0)
    assert totals["tool_seconds"] > 0
    done, _ = place.run([], "cost")
    assert "Lines of files: 6 added, 0 removed." in done.stdout


def test_of_a_model_without_a_price_the_tokens_are_told_and_no_dollars(place: Place) -> None:
    place.run(["Hi."], "-p", "go", "--model", "claude-next-9")
    done, _ = place.run([], "cost")
    assert "claude-next-9" in done.stdout
    assert "A ? stands for a model whose price is not known; it is in no sum." in done.stdout
    done, _ = place.run([], "cost", "--json")
    told = json.loads(done.stdout)
    assert (told["usd"], told["unpriced"]) == (0, ["claude-next-9"])


async def test_what_retries_took_is_told_apart(project: Path) -> None:
    limited = error(429, "rate_limit_error", "Slow down", {"retry-after": "0.3"})
    async with MockMessagesApi([limited, "Hello."]) as api, opened(api, project) as session:
        await run(session)
        totals = session.totals()
    assert 0.3 <= totals.retry_seconds < totals.api_seconds
    assert totals.api_seconds - totals.retry_seconds < 0.3


async def test_a_model_that_is_not_there_is_refused_in_the_session(project: Path) -> None:
    async with MockMessagesApi(["Hello."]) as api, opened(api, project) as session:
        assert (await session.set_model("haiku")).id == "claude-haiku-5-5"
        assert api.counts == [], "a known model is not asked about"
        assert (await session.set_model("claude-next-9")).id == "claude-next-9"
        assert [request.body["model"] for request in api.counts] == ["claude-next-9"]
        assert result_of(await run(session)).text == "Hello."
    await asyncio.sleep(0)
