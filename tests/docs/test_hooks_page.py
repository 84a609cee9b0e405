"""docs/guides/hooks.md: its files work, and `toolpost hooks test` prints what the page shows."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "guides" / "hooks.md"
TOOLPOST = Path(sys.executable).with_name("toolpost")
TIME = re.compile(r"\d+\.\d+ ms")


def test_the_hook_of_the_page_does_what_the_page_shows(tmp_path: Path) -> None:
    text = PAGE.read_text(encoding="utf-8")
    for name, content in re.findall(r"```\w+ file=(\S+)\n(.*?)```", text, re.DOTALL):
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(content, encoding="utf-8")
        file.chmod(0o755)
    command, shown = re.findall(r"```console\n\$ toolpost (.*?)\n(.*?)```", text, re.DOTALL)[0]
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path / "home")}
    done = subprocess.run(
        [TOOLPOST, *shlex.split(command), "--trust"], cwd=tmp_path, env=env, capture_output=True, text=True, check=True
    )
    printed = [line for line in done.stdout.splitlines() if not line.startswith(("listener ", "together: "))]
    assert [TIME.sub("ms", line) for line in printed] == [TIME.sub("ms", line) for line in shown.splitlines()]
