"""A program `pwsh` that knows as much of PowerShell as these tests need: the tool's frame, and a few commands."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

PROGRAM = r"""
import os, pathlib, re, sys, time

arguments = sys.argv[1:]
assert arguments[:-1] == ["-NoLogo", "-NoProfile", "-NonInteractive", "-File"], arguments
script = pathlib.Path(arguments[-1]).read_text("utf-8")
told = os.environ.pop(re.search(r"\$env:(\w+)", script).group(1))
body = re.search(r"try \{\n(.*)\n\$\w+ = if \(\$\?\)", script, re.S).group(1)
code = 0
for line in body.split("\n"):
    name, _, rest = line.partition(" ")
    if name == "Get-Location":
        print(os.getcwd())
    elif name == "Set-Location":
        os.chdir(rest)
    elif name == "Write-Output":
        print(os.path.expandvars(rest), flush=True)
    elif name == "Start-Sleep":
        time.sleep(float(rest))
    elif name == "Fail":
        code = int(rest)
pathlib.Path(told).write_text(os.getcwd() + "\0")
sys.exit(code)
"""


def install(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put the program on PATH."""
    program = folder / "pwsh"
    program.write_text(f"#!{sys.executable} -S\n{PROGRAM}")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
