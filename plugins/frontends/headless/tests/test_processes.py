from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent


def start(scenario: dict[str, Any], **pipes: Any) -> subprocess.Popen[bytes]:
    command = [sys.executable, str(HERE / "scripted_run.py"), json.dumps({"options": {}, **scenario})]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **pipes)


def test_a_slow_reader_gets_all_fifty_megabytes() -> None:
    with start({"pieces": 800, "options": {"include_partial_messages": True}}) as process:
        assert process.stdout is not None
        total, lines = 0, 0
        while data := os.read(process.stdout.fileno(), 700):
            total, lines = total + len(data), lines + data.count(b"\n")
            last = data
        assert process.wait(60) == 0
    assert total > 50_000_000
    # init, the start of message and block, a line a piece, the ends of both, the result
    assert lines == 1 + 2 + 800 + 2 + 1
    assert last.endswith(b"\n")


def test_a_closed_output_ends_the_run_quietly() -> None:
    with start({"pieces": 800, "options": {"include_partial_messages": True}}) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.wait(60) == 1
        err = process.stderr.read()
    assert b"Traceback" not in err
    assert b"Broken" not in err
    assert b"interrupt" in err


@pytest.mark.parametrize(
    ("number", "code", "reason"),
    [(signal.SIGINT, 130, "user_cancel"), (signal.SIGTERM, 143, "engine_stop"), (signal.SIGHUP, 129, "engine_stop")],
)
def test_a_signal_ends_the_turn_with_its_result_and_its_exit_code(number: int, code: int, reason: str) -> None:
    with start({"hold": True}) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        first = json.loads(process.stdout.readline())
        process.send_signal(number)
        rest = [json.loads(line) for line in process.stdout]
        assert process.wait(60) == code
        err = process.stderr.read()
    assert first["subtype"] == "init"
    assert [line["type"] for line in rest] == ["result"]
    assert reason.encode() in err


def test_a_signal_ends_a_run_that_waits_for_input() -> None:
    options = {"prompt": None, "input_format": "stream-json"}
    with start({"options": options}, stdin=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b'{"type":"user","message":{"role":"user","content":"hi"}}\n')
        process.stdin.flush()
        while json.loads(process.stdout.readline())["type"] != "result":
            pass
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130


@pytest.mark.parametrize("closed", ["<&-", ">&-", "<&- >&- 2>&-"])
def test_a_program_started_with_closed_streams_does_not_crash(closed: str) -> None:
    scenario = json.dumps({"options": {"prompt": None, "input_format": "stream-json"}})
    command = f"exec '{sys.executable}' '{HERE / 'scripted_run.py'}' '{scenario}' {closed}"
    done = subprocess.run(["sh", "-c", command], stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False)
    assert done.returncode == 0
    assert b"Traceback" not in done.stderr


def test_importing_the_front_end_costs_no_third_party_module() -> None:
    program = (
        "import sys, toolpost; import toolpost_frontend_headless; "
        "print([m for m in ('rich', 'prompt_toolkit', 'pydantic') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"
