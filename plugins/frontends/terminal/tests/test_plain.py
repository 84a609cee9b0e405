from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


def run(given: str, **options: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(HERE / "scripted_terminal.py"), json.dumps(options)]
    env = {**os.environ, "TERM": "xterm-256color"}
    return subprocess.run(command, input=given, capture_output=True, text=True, timeout=60, check=False, env=env)


def test_lines_from_a_pipe_are_prompts_until_eof() -> None:
    done = run("hello\n\n/cost\nlast one")
    assert done.returncode == 0, done.stderr
    assert "You said: hello" in done.stdout
    assert "You said: last one" in done.stdout
    assert "\x1b" not in done.stdout


def test_a_line_from_a_pipe_never_answers_a_permission_question() -> None:
    done = run("bash\n1\n")
    assert "nobody can be asked" in done.stdout
    assert "You said: 1" in done.stdout


def test_yes_answers_without_a_terminal_and_shows_it() -> None:
    done = run("", prompt="bash", extra={"once": True, "yes": True})
    assert done.returncode == 0
    assert "? Bash" in done.stdout
    assert "→ Yes (--yes answers)" in done.stdout
    assert "cleaned" in done.stdout


def test_a_failed_prompt_is_the_exit_code_of_a_single_run() -> None:
    done = run("", prompt="fail", extra={"once": True})
    assert done.returncode == 1
    assert "✗ No key" in done.stdout


def test_importing_the_front_end_costs_no_heavy_module() -> None:
    program = (
        "import sys, toolpost; import toolpost_frontend_terminal; "
        "print([m for m in ('rich', 'prompt_toolkit', 'pydantic') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"
