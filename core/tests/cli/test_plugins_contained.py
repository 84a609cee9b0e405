"""A plugin that hangs or prints as it is loaded spoils no command."""

from __future__ import annotations

import json
import signal
import subprocess
from typing import Any

import pytest

HANGS = "import signal\n\nsignal.pause()\n"
LOUD = """
    import os
    import subprocess
    import sys

    print("loud: imported")
    os.write(1, b"loud: descriptor\\n")
    subprocess.run([sys.executable, "-c", "print('loud: child')"])
    kept = sys.stdout

    from dataclasses import dataclass

    from toolpost import Tool, ToolResult


    @dataclass
    class Nothing: ...


    class Loud(Tool[Nothing]):
        name = "loud"
        input_model = Nothing

        def is_enabled(self) -> bool:
            print("loud: asked")
            return True

        def prompt(self, options):
            print("loud: described")
            return "Be loud."

        async def call(self, input, ctx, progress):
            print("loud: called")
            print("loud: kept", file=kept)
            os.write(1, b"loud: descriptor of a call\\n")
            return ToolResult("done")


    loud = Loud()
"""


@pytest.fixture
def hanging(toolpost: Any) -> Any:
    toolpost.install("acme-stuck", "tools", "stuck", HANGS)
    toolpost.settings({"plugins": {"stuck": True}})
    toolpost.env["TOOLPOST_PLUGIN_LOAD_TIMEOUT"] = "0.5"
    return toolpost


@pytest.mark.requirement("plugins.loading_has_a_limit")
@pytest.mark.parametrize("command", [("tool", "list"), ("plugins", "info", "stuck"), ("plugins", "list"), ("doctor",)])
def test_a_plugin_that_hangs_as_it_is_imported_is_given_up(hanging: Any, command: tuple[str, ...]) -> None:
    done = hanging(*command)
    assert "Read" in done.stdout or command[0] != "tool"
    if command == ("plugins", "info", "stuck"):
        assert "failed, it took longer than 0.5 s to load and was given up" in done.stdout
        assert "TOOLPOST_PLUGIN_LOAD_TIMEOUT" in done.stdout
        assert "acme_stuck.py:3" in done.stdout


def test_a_session_starts_without_one_that_hangs_and_names_it_once(hanging: Any) -> None:
    (hanging.project / "a.txt").write_text("inside", encoding="utf-8")
    call = json.dumps({"tool": "Read", "input": {"file_path": str(hanging.project / "a.txt")}})
    done = hanging("tool", "run", "--json", input=f"{call}\n{call}\n")
    assert [json.loads(line)["is_error"] for line in done.stdout.splitlines()] == [False, False]
    assert done.stderr.count("The plugin 'stuck' (acme-stuck 1.0) is off for this session") == 1


def test_ctrl_c_names_the_plugin_that_was_waited_for(hanging: Any) -> None:
    hanging.env["TOOLPOST_PLUGIN_LOAD_TIMEOUT"] = "0"
    code = "import sys\nprint('waits', file=sys.stderr, flush=True)\n" + HANGS
    (hanging.site / "acme_stuck.py").write_text(code, encoding="utf-8")
    with subprocess.Popen(
        hanging.command("tool", "list"), cwd=hanging.project, env=hanging.env, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == "waits\n"
        process.send_signal(signal.SIGINT)
        said = process.stderr.read()
    assert process.returncode == 130
    assert "interrupted while the plugin 'stuck' (acme-stuck) was loaded" in said


@pytest.fixture
def loud(toolpost: Any) -> Any:
    toolpost.install("acme-loud", "tools", "loud", LOUD)
    toolpost.settings({"plugins": {"loud": True}})
    return toolpost


@pytest.mark.requirement("plugins.printing_stays_out")
@pytest.mark.parametrize(
    "command", [("plugins", "info", "loud"), ("tool", "list"), ("tool", "show", "loud"), ("plugins", "profile")]
)
def test_a_document_is_whole_though_a_plugin_prints_as_it_is_imported(loud: Any, command: tuple[str, ...]) -> None:
    done = loud(*command, "--json")
    json.loads(done.stdout)
    assert "toolpost: the plugin 'loud' (acme-loud) printed: loud: imported\n" in done.stderr
    assert "loud: descriptor\n" in done.stderr
    assert "loud: child\n" in done.stderr


def test_the_lines_of_tool_run_are_whole_though_a_tool_prints(loud: Any) -> None:
    done = loud("tool", "run", "--json", "--yes", input='{"tool": "loud", "input": {}}\n')
    (line,) = done.stdout.splitlines()
    assert json.loads(line)["content"] == "done"
    assert "loud: called\n" in done.stderr
    assert "the plugin 'loud' (acme-loud) printed: loud: kept\n" in done.stderr
    assert "loud: descriptor of a call\n" in done.stderr
