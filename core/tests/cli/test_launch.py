from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

FRONT = """
    import asyncio, json, sys

    from toolpost import Frontend


    class Front(Frontend):
        code: int = 0

        async def run(self, host):
            heavy = ("click", "pydantic", "stevedore", "importlib.metadata", "rich")
            loaded = [name for name in heavy if name in sys.modules]
            print(json.dumps({"prompt": host.options.prompt, "loaded": loaded, "version": host.version}))
            if host.options.prompt == "fail":
                raise ValueError("unforeseen")
            if host.options.prompt == "interrupt":
                raise KeyboardInterrupt
            if host.options.prompt == "wait":
                print("waiting", flush=True)
                await asyncio.Event().wait()
            return self.code
"""


@pytest.fixture(autouse=True)
def cold(toolpost: Any) -> None:
    """What is tested here is how it starts."""
    toolpost.cold = True


@pytest.fixture
def front(toolpost: Any) -> Any:
    toolpost.install("acme-front", "frontends", "Front", FRONT)
    toolpost.settings({"plugins": {"Front": True}, "frontends": {"print": "front", "demo": "front"}})
    return toolpost


def test_what_is_piped_in_is_added_to_the_prompt(front: Any) -> None:
    assert front.json("-p", "explain", input="the diff\n")["prompt"] == "explain\n\nthe diff"
    assert front.json("-p", "explain")["prompt"] == "explain"
    assert front.json("-p", input="only this")["prompt"] == "only this"
    assert front.json("explain", input="the diff")["prompt"] == "explain\n\nthe diff"


def test_without_any_prompt_it_says_so(front: Any) -> None:
    for arguments in (["-p"], [], ["-p", ""]):
        done = front(*arguments)
        assert (done.returncode, done.stdout, "There is no prompt" in done.stderr) == (2, "", True)


def test_more_than_ten_megabytes_are_refused(front: Any) -> None:
    done = front("-p", "explain", input=b"x" * (10 * 1024 * 1024 + 1))
    assert (done.returncode, "more than 10 MB" in done.stderr) == (2, True)


def test_a_closed_standard_input_is_no_input(front: Any) -> None:
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" <&-', "sh", *front.command("-p", "explain")],
        capture_output=True,
        cwd=front.project,
        env=front.env,
        timeout=60,
    )
    assert b'"prompt": "explain"' in done.stdout, done.stderr


def test_an_open_pipe_in_which_nothing_comes_does_not_hang(front: Any) -> None:
    reader, writer = os.pipe()
    done = subprocess.run(
        front.command("-p", "explain"), stdin=reader, capture_output=True, cwd=front.project, env=front.env, timeout=60
    )
    os.close(reader)
    os.close(writer)
    assert b'"prompt": "explain"' in done.stdout
    assert b"nothing came from standard input" in done.stderr


def test_the_way_to_the_front_end_imports_no_command_and_nothing_heavy(front: Any) -> None:
    front("-p", "warm up the cache")
    assert front.json("-p", "hi")["loaded"] == []


def test_the_front_ends_exit_code_is_the_programs(front: Any) -> None:
    front.settings({"plugins": {"Front": {"enabled": True, "config": {"code": 7}}}, "frontends": {"print": "front"}})
    assert front("-p", "hi").returncode == 7


def test_an_interruption_is_130_and_a_fault_is_1_with_its_trace(front: Any) -> None:
    assert front("-p", "interrupt").returncode == 130
    done = front("-p", "fail")
    assert done.returncode == 1
    assert "ValueError: unforeseen" in done.stderr


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_front_end_that_leaves_signals_alone_is_ended_by_them(front: Any, number: int, code: int) -> None:
    process = subprocess.Popen(
        front.command("-p", "wait"), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, cwd=front.project, env=front.env
    )
    with process:
        assert process.stdout is not None
        while process.stdout.readline() != b"waiting\n":
            assert process.poll() is None
        process.send_signal(number)
        assert process.wait(60) == code


def test_a_front_end_that_is_not_there_is_answered_with_those_that_are(front: Any) -> None:
    front.settings({"plugins": {"Front": True}, "frontends": {"print": "gone"}})
    done = front("-p", "hi")
    assert done.returncode == 1
    assert "No plugin of the kind frontends is called 'gone'. Installed are: Front" in done.stderr


def test_the_demo_runs_its_own_front_end(front: Any) -> None:
    assert front("demo", "--yes", "--fast").returncode == 0
    assert front("demo", "--help").returncode == 0
    assert front("demo", "--nope").returncode == 2


def test_a_settings_mistake_on_the_command_line_is_bad_usage(front: Any) -> None:
    for arguments in (["--settings", "missing.json"], ["--settings", "{"], ["--setting-sources", "nobody"]):
        done = front("-p", "hi", *arguments)
        assert (done.returncode, done.stdout) == (2, "")
    assert front("-p", "hi", "--cwd", "/nowhere").returncode == 2


def test_version_is_answered_before_anything_is_imported(toolpost: Any) -> None:
    toolpost.flags = ("-X", "importtime")
    done = toolpost("--version")
    assert done.stdout.strip().endswith("(Toolpost)")
    names = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    ours = {
        name
        for name in names
        if name.split(".")[0] in ("toolpost", "toolpost_core", "click", "pluggy", "asyncio", "json")
    }
    assert ours == {"toolpost_core", "toolpost_core.cli"}


def test_the_current_folder_brings_neither_modules_nor_plugins(toolpost: Any, tmp_path: Path) -> None:
    info = toolpost.project / "evil-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.4\nName: evil\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text("[toolpost.tools]\nevil = evil:evil\n", encoding="utf-8")
    (toolpost.project / "click.py").write_text("raise SystemExit('taken over')", encoding="utf-8")
    names = [row["name"] for row in toolpost.json("plugins", "list", "--json")]
    assert "evil" not in names
    assert "bash" in names


def test_a_terminated_command_closes_what_it_opened_and_is_143(toolpost: Any) -> None:
    process = subprocess.Popen(
        toolpost.command("tool", "run", "--json"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=toolpost.project,
        env=toolpost.env,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(b'{"tool": "Nope"}\n')
    process.stdin.flush()
    process.stdout.readline()
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=60) == 143
    process.stdin.close()
    process.stdout.close()


@pytest.mark.parametrize(
    ("arguments", "prompt"), [(["-p", "explain"], "explain"), (["explain"], "explain"), ([], None)]
)
def test_a_terminal_is_no_input_and_makes_a_run_without_p_interactive(
    front: Any, arguments: list[str], prompt: str | None
) -> None:
    way = "print" if "-p" in arguments else "interactive"
    front.settings({"plugins": {"Front": True}, "frontends": {way: "front"}})
    person, terminal = os.openpty()
    process = subprocess.Popen(
        front.command(*arguments), stdin=terminal, stdout=terminal, stderr=terminal, cwd=front.project, env=front.env
    )
    assert process.wait(timeout=60) == 0
    os.close(terminal)
    shown = os.read(person, 65536).decode()
    os.close(person)
    assert json.loads(shown)["prompt"] == prompt
