"""The weaker sandbox, within a container that lets nobody mount a `/proc` of their own. Every attempt is really made."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.security.sandbox_cell import MISSING, SECRET

ROOT = Path(__file__).parents[2]
CONTAINER = ("unshare", "-Urm", "sh", "-c", 'mount -t tmpfs none /proc/fs && exec "$@"', "sh")
"""A namespace with something over a part of /proc: the kernel then lets nobody within mount another one."""


def is_possible() -> bool:
    try:
        return not MISSING and subprocess.run((*CONTAINER, "true"), capture_output=True, check=False).returncode == 0
    except OSError:
        return False


pytestmark = pytest.mark.skipif(not is_possible(), reason=MISSING or "no container can be made here")

WITHIN = """
import asyncio, json, sys
from pathlib import Path
from tests.security.sandbox_cell import Cell
from toolpost import SessionError, ToolUse

async def main():
    root, more, command = sys.argv[1:]
    cell = Cell(Path(root))
    cell.more = json.loads(more)
    try:
        async with cell.session() as session:
            (result,) = await session.run_calls([ToolUse("toolu_1", "Bash", {"command": command})])
            print(json.dumps({"text": result.block["content"], "outside": sorted(map(str, cell.outside.iterdir()))}))
    except SessionError as error:
        print(json.dumps({"error": str(error)}))

asyncio.run(main())
"""


def within(folder: Path, command: str, **more: Any) -> Any:
    """Run a command as the model would, in a container; `more` are settings of the sandbox."""
    done = subprocess.run(
        (*CONTAINER, sys.executable, "-c", WITHIN, str(folder), json.dumps(more), command),
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout) | {"said": done.stderr}


def test_without_leave_no_session_starts_and_the_setting_is_named(tmp_path: Path) -> None:
    assert "sandbox.enableWeakerNestedSandbox" in within(tmp_path, "true")["error"]


def test_work_is_not_hindered_and_nothing_outside_is_written_or_read(tmp_path: Path) -> None:
    outside, secrets = tmp_path / "outside", tmp_path / "home/secrets"
    told = within(
        tmp_path,
        f"echo x > a && diff a <(echo x) && {sys.executable} -c 'import os; print(len(os.listdir(\"/proc/self/fd\")) > 0)';"
        f"(echo x > {outside}/new; cat {secrets}/key; umount -l {secrets}; cat {secrets}/key; mount -t proc p /proc"
        "; mount --bind / a; umount -l /proc/fs) >b 2>&1; grep -c 'mount' b; cat b",
        enableWeakerNestedSandbox=True,
    )
    assert told["text"].splitlines()[0] == "True"
    assert SECRET not in told["text"]
    assert told["outside"] == [str(outside / "kept.txt")]
    assert (secrets / "key").read_text() == SECRET


REACH = """
import ctypes, os, signal
libc = ctypes.CDLL(None, use_errno=True)
mine = os.readlink("/proc/self/ns/pid")
for pid in filter(str.isdigit, os.listdir("/proc")):
    try:
        if os.readlink(f"/proc/{pid}/ns/pid") == mine:
            continue
    except OSError:
        pass
    for part in ("root", "cwd", "root/{secrets}/key", "fd/0", "fd/1", "fd/2"):
        try:
            os.stat(f"/proc/{pid}/{part}")
            print("REACHED", part)
        except OSError:
            pass
    for part in ("environ", "mem", "maps"):
        try:
            # A thread of the kernel has these as well, with nothing in them.
            if open(f"/proc/{pid}/{part}", "rb").read(1):
                print("READ", part)
        except OSError:
            pass
    for part in ("oom_score_adj", "mem", "comm", "clear_refs"):
        try:
            open(f"/proc/{pid}/{part}", "r+b").close()
            print("WRITABLE", part)
        except OSError:
            pass
    if int(pid) > 10 and libc.ptrace(0x4206, int(pid), None, None) == 0:
        print("TRACED")
print("tried", len(os.listdir("/proc")) > 50)
"""


def test_processes_outside_are_seen_but_not_reached(tmp_path: Path) -> None:
    secrets = str(tmp_path / "home/secrets").lstrip("/")
    script = tmp_path / "reach.py"
    script.write_text(REACH.replace("{secrets}", secrets))
    with subprocess.Popen(["sleep", "600"]) as victim:
        told = within(
            tmp_path,
            f"{sys.executable} -I {script}; kill -9 {victim.pid} $(ls /proc | grep -x '[0-9][0-9]*[0-9][0-9]') 2>/dev/null;"
            "(echo 1 > /proc/sys/kernel/printk) 2>/dev/null && echo SET; true",
            enableWeakerNestedSandbox=True,
        )
        assert victim.poll() is None
        victim.kill()
    assert told["text"] == "tried True"
