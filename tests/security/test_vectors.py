"""Commands that must not run by themselves, many of each kind, decided by `toolpost permissions explain --batch`.

A line of a file is a command, in which `@@` stands for the end of a line. None is ever run.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

VECTORS = Path(__file__).parent / "vectors"
FILES = {
    "a.txt": "a\n",
    "b.txt": "b\n",
    "src/app.py": "x\n",
    "f.json": "{}",
    "a.tar": "",
    "run.sh": "x",
    ".env": "S=1",
    "-oout": "x",
    "--output=x": "1",
    "sp ace": "x",
    "a -o b": "1",
    "sub/x": "1",
    "sub/HEAD": "ref: x",
    "sub/config": "[core]",
    "sub/objects/x": "",
    "sub/refs/x": "",
}
RULES: dict[str, dict[str, list[str]]] = {
    # What a deny rule forbids is found wherever it is hidden, with all of Bash allowed.
    "runs": {"allow": ["Bash"], "deny": ["Bash(rm:*)"]},
    "reads": {"allow": ["Bash"], "deny": ["Read(.env)"]},
    "changes": {"allow": ["Bash"], "deny": ["Edit(src/**)"]},
    # Without any rule nothing runs but what surely only reads, and only here.
    "asks": {},
}


def let_in(kind: str, top: Path, **order: Any) -> list[str]:
    """The commands of a file that would run."""
    project, home = top / "project", top / "home"
    for name, text in FILES.items():
        path = project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    home.mkdir()
    for link, target in (("lnk", "/etc/passwd"), ("ld", "/etc")):
        (project / link).symlink_to(target)
    text = (VECTORS / f"{kind}.txt").read_text("utf-8").replace("@PROJECT@", str(project))
    text = text.replace("@PARENT@", str(top)).replace("@BASENAME@", project.name)
    commands = [line.replace("@@", "\n") for line in text.splitlines()]
    given = {"tool": "Bash", "interactive": True, "cwd": str(project), "home": str(home), **order}
    batch = top / "batch.jsonl"
    orders = (
        {"id": str(at), "input": {"command": command}, "settings": {"permissions": RULES[kind]}, **given}
        for at, command in enumerate(commands)
    )
    batch.write_text("".join(json.dumps(order) + "\n" for order in orders), "utf-8")
    run = subprocess.run(
        [sys.executable, "-m", "toolpost_core", "permissions", "explain", "--json", "--batch", str(batch)],
        capture_output=True,
        cwd=top,
        env={**os.environ, "HOME": str(top), "TOOLPOST_CONFIG_DIR": str(top / ".toolpost")},
        check=False,
    )
    lines = run.stdout.decode("utf-8", errors="replace").splitlines()
    answers = {
        answer["id"]: answer["decision"] for line in lines if line.startswith("{") for answer in (json.loads(line),)
    }
    assert len(answers) == len(commands), run.stderr.decode()[-2000:]
    return [command for at, command in enumerate(commands) if answers[str(at)] == "allow"]


@pytest.mark.parametrize("kind", RULES)
def test_none_of_many_commands_of_a_kind_runs_by_itself(kind: str, tmp_path: Path) -> None:
    assert let_in(kind, tmp_path.resolve(), mode="default") == []


@pytest.mark.parametrize("kind", ["runs", "reads", "changes"])
def test_what_is_denied_stays_so_where_all_else_is_let_through(kind: str, tmp_path: Path) -> None:
    assert let_in(kind, tmp_path.resolve(), mode="bypassPermissions") == []
