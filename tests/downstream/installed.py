"""Uses an installed `toolpost` as a newcomer does, with the plugin acme-words beside it: `python installed.py PATH`.

It runs in an empty home and folder, with no key. Exits with 1 at the first thing that is not as it should be.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any


def main(program: str) -> None:
    """Check the program from its version to a third party's plugin."""
    with tempfile.TemporaryDirectory() as folder:
        home, project = Path(folder) / "home", Path(folder) / "project"
        home.mkdir()
        project.mkdir()
        (project / "notes.txt").write_text("one two three\n", encoding="utf-8")
        env = {"HOME": str(home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8", "CI": "true", "NO_COLOR": "1"}

        def run(*arguments: str, stdin: str = "") -> str:
            return _output([program, *arguments], project, env, stdin)

        print(run("--version").strip())
        listed = run("plugins", "list")
        _expect("read" in listed and "word_count" in listed, "`plugins list` names the plugins", listed)
        call = json.dumps({"tool": "word_count", "input": {"path": "notes.txt"}}) + "\n"
        refused = _line(run("tool", "run", "--json", stdin=call))
        _expect(refused["is_error"], "a third-party plugin is off until it is turned on", refused)
        (home / ".toolpost").mkdir(exist_ok=True)
        settings = json.dumps({"plugins": {"word_count": True}})
        (home / ".toolpost/settings.json").write_text(settings, encoding="utf-8")
        counted = _line(run("tool", "run", "--json", stdin=call))
        _expect(counted["content"] == "3 words", "it works once it is turned on", counted)
        read = json.dumps({"tool": "Read", "input": {"file_path": "notes.txt"}}) + "\n"
        shown = _line(run("tool", "run", "--json", stdin=read))
        _expect("one two three" in str(shown["content"]), "Read reads", shown)
        print(run("demo", "--yes", "--fast")[-2000:])


def _output(command: list[str], cwd: Path, env: dict[str, str], stdin: str) -> str:
    done = subprocess.run(
        command, cwd=cwd, env=env, input=stdin, capture_output=True, text=True, check=False, timeout=120
    )
    _expect(done.returncode == 0, f"{command[1:]} exits with 0", f"{done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout


def _line(text: str) -> dict[str, Any]:
    lines = text.splitlines()
    _expect(len(lines) == 1, "one call has one line of answer", text)
    answer: dict[str, Any] = json.loads(lines[0])
    return answer


def _expect(holds: bool, what: str, found: object) -> None:
    if not holds:
        sys.exit(f"Not so: {what}.\n{found}")


if __name__ == "__main__":
    main(sys.argv[1])
