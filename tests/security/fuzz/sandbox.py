"""Runs commands in disposable sandboxes and tells what each started, changed and printed."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.security.fuzz import inside
from tests.security.fuzz.world import LOG, World, copy_of

SECONDS = 2.0
"""What one command may take."""


@dataclass(frozen=True)
class Outcome:
    """What came of one command: the argument vectors of marker programs, the paths that changed, the output.

    `opened` are those watched files that were read. `lost` says that the sandbox ended with it, so that nothing is known.
    """

    started: Sequence[Sequence[str]] = ()
    changed: Sequence[str] = ()
    output: str = ""
    opened: Sequence[str] = ()
    lost: bool = field(default=False)


def why_not() -> str:
    """Why no sandbox can be had here; empty if one can."""
    if shutil.which("bwrap") is None:
        return "bubblewrap is not installed"
    tried = subprocess.run(
        ["bwrap", "--unshare-all", "--ro-bind", "/", "/", "true"], capture_output=True, text=True, check=False
    )
    return "" if tried.returncode == 0 else f"bubblewrap can't make a sandbox here: {tried.stderr.strip()}"


@contextmanager
def sandbox(world: World) -> Iterator[Sandbox]:
    """Make ready for running commands in a world."""
    with tempfile.TemporaryDirectory() as folder:
        yield Sandbox(world, copy_of(world, Path(folder) / "template"), Path(folder))


@dataclass(frozen=True)
class Sandbox:
    """Runs lists of commands, each from the same start."""

    world: World
    template: Path
    folder: Path

    def run(self, commands: Sequence[str]) -> list[Outcome]:
        """Run each command once; one that brings the sandbox down is lost, and the others run in a new one."""
        found: list[Outcome] = []
        while len(found) < len(commands):
            found.extend(self._run(commands[len(found) :]))
        return found

    def _run(self, commands: Sequence[str]) -> list[Outcome]:
        plan = self.folder / "plan.json"
        plan.write_text(json.dumps(self._plan(commands)), "utf-8")
        ran = subprocess.run(
            [*self._bwrap(plan), "--", *_python(), "/fuzz/inside.py", "/fuzz/plan.json"],
            capture_output=True, text=True, check=False, errors="replace",
        )  # fmt: skip
        lines = [json.loads(line) for line in ran.stdout.splitlines() if line.endswith("}")]
        if not lines:
            raise RuntimeError(f"the sandbox did not start: {ran.stderr[-2000:]}")
        found = [
            Outcome(line["started"], line["changed"], line["output"], line["opened"])
            for line in lines
            if "ended" in line
        ]
        return found if len(found) == len(commands) else [*found, Outcome(lost=True)]

    def _plan(self, commands: Sequence[str]) -> dict[str, object]:
        world = self.world
        env = {"PATH": "/usr/bin:/bin", "HOME": str(world.home), "LC_ALL": "C.UTF-8", "GIT_PAGER": "cat", "PAGER": "cat",
               "GIT_EDITOR": "true", "TERM": "dumb"}  # fmt: skip
        return {
            "template": "/template", "base": str(world.base), "log": LOG, "bash": "/real/bin/bash", "env": env,
            "watched": [str(world.project / name) for name in (".env", "secrets/k")],
            "cwd": str(world.project), "seconds": SECONDS, "commands": list(commands),
        }  # fmt: skip

    def _bwrap(self, plan: Path) -> list[str]:
        prefix = sys.base_prefix
        own = ["--ro-bind", prefix, prefix] if not Path(prefix).is_relative_to("/usr") else []
        return [
            "bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--clearenv",
            "--ro-bind", "/usr", "/usr", "--ro-bind", "/usr/bin", "/real/bin",
            "--ro-bind", str(self.world.programs), "/usr/bin",
            "--symlink", "usr/bin", "/bin", "--symlink", "usr/sbin", "/sbin", "--symlink", "usr/lib", "/lib",
            "--symlink", "usr/lib64", "/lib64", "--ro-bind", "/etc", "/etc", "--proc", "/proc", "--dev", "/dev",
            "--tmpfs", "/tmp", "--dir", str(self.world.base), "--tmpfs", str(self.world.base), "--tmpfs", "/marks", *own,
            "--ro-bind", str(self.template), "/template", "--ro-bind", str(plan), "/fuzz/plan.json",
            "--ro-bind", inside.__file__, "/fuzz/inside.py",
        ]  # fmt: skip


def _python() -> list[str]:
    path = Path(sys.executable).resolve()
    shown = Path("/real/bin") / path.name if path.is_relative_to("/usr/bin") else path
    return [str(shown), "-I", "-S"]
