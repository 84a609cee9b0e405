"""A folder for temporary files without room: it is named, commands run all the same, and one of them can make room."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from toolpost_sandbox_bubblewrap import Bubblewrap

TOOLPOST = str(Path(sys.executable).with_name("toolpost"))
MISSING = (
    Bubblewrap().unusable() if sys.platform == "linux" else "bubblewrap, which mounts a small folder, is for Linux"
)


@pytest.mark.skipif(MISSING is not None, reason=str(MISSING))
def test_each_result_names_the_folder_until_there_is_room_again(tmp_path: Path) -> None:
    project, home, small = (tmp_path / name for name in ("project", "home", "small"))
    for folder in (project / "sub", home, small):
        folder.mkdir(parents=True)
    fill, clear = f"head -c 1000000 /dev/zero > {small}/fill", f"rm {small}/fill"
    commands = ["echo before", fill, "cd sub", f"pwd; : {'x' * 200_000}", clear, "pwd"]
    told = _told(commands, project, home, small)

    note = f"[The folder for temporary files can't be written to: {small}: No space left on device]"
    assert told[0] == "before"
    assert "No space left on device" in told[1]
    assert told[2:] == [note, f"{project}/sub\n{note}", note, f"{project}/sub"]


def _told(commands: list[str], project: Path, home: Path, small: Path) -> list[str]:
    """Run commands in one session that has 128 kB for temporary files; return what the model reads of each."""
    mounts = ["--dev-bind", "/", "/", "--size", "131072", "--tmpfs", str(small)]
    run = [TOOLPOST, "tool", "run", "--json", "--permission-mode", "bypassPermissions", "--cwd", str(project)]
    lines = [json.dumps({"tool": "Bash", "input": {"command": command}}) for command in commands]
    done = subprocess.run(
        ["bwrap", *mounts, "--", *run],
        input="\n".join(lines),
        env={"PATH": os.environ["PATH"], "HOME": str(home), "TMPDIR": str(small)},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    return [json.loads(line)["content"] for line in done.stdout.splitlines()]
