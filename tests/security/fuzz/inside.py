"""Runs inside of the sandbox: each command in a real bash, and what came of it. Knows nothing of Toolpost.

    python inside.py PLAN

PLAN is a JSON object: `template` and `base` (the folders are laid out anew from the one at the other), `log` (where marker
programs write), `watched` (files of which it is told whether they were read), `bash`, `env`, `cwd`, `commands`, `seconds`. A
line of JSON is printed for each command as soon as it ended.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

State = dict[str, tuple[object, ...]]
MOST_OUTPUT = 200_000
# Git notes there what it saw of the files' times; every `git status` may.
_UNSTEADY = ("/.git/index",)


def main(plan: dict[str, Any]) -> None:
    """Run the commands of a plan, each from the same start."""
    base = Path(plan["base"])
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    temporary = Path("/tmp")
    places = (temporary,) if base.is_relative_to(temporary) else (base, temporary)
    _lay_out(base, Path(plan["template"]))
    before = _state(places)
    for number, command in enumerate(plan["commands"]):
        print(json.dumps({"began": number}), flush=True)
        _leave_unread(plan["watched"], before)
        output = _run(command, plan)
        opened = [path for path in plan["watched"] if _was_read(path)]
        after = _state(places)
        changed = sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
        outcome = {"ended": number, "changed": changed, "started": _started(Path(plan["log"])), "output": output,
                   "opened": opened}  # fmt: skip
        print(json.dumps(outcome), flush=True)
        if changed:
            _lay_out(base, Path(plan["template"]))
            before = _state(places)


def _leave_unread(watched: list[str], state: State) -> None:
    """Set back the times at which files were read, so that it shows when they are read again."""
    for path in watched:
        os.utime(path, ns=(0, os.lstat(path).st_mtime_ns))
        state[path] = _told(os.lstat(path))


def _was_read(path: str) -> bool:
    with contextlib.suppress(OSError):
        return os.lstat(path).st_atime_ns > 0
    return False


def _told(told: os.stat_result) -> tuple[object, ...]:
    return (told.st_ino, told.st_mode, told.st_size, told.st_mtime_ns, told.st_ctime_ns)


def _lay_out(base: Path, template: Path) -> None:
    for place in (base, Path("/tmp")):
        for entry in place.iterdir():
            if entry.is_dir() and not entry.is_symlink():
                if entry != base and entry not in base.parents:
                    shutil.rmtree(entry, ignore_errors=True)
            else:
                entry.unlink()
    shutil.copytree(template, base, symlinks=True, dirs_exist_ok=True)


def _state(places: tuple[Path, ...]) -> State:
    found: State = {}
    waiting = [os.fspath(place) for place in places]
    while waiting:
        with contextlib.suppress(OSError), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.path.endswith(_UNSTEADY):
                    continue
                told = entry.stat(follow_symlinks=False)
                if entry.is_dir(follow_symlinks=False):
                    # A file that comes and goes, such as a here-document's, changes the times of its folder.
                    found[entry.path] = (told.st_ino, told.st_mode)
                    waiting.append(entry.path)
                else:
                    found[entry.path] = _told(told)
    return found


def _run(command: str, plan: dict[str, Any]) -> str:
    log, output = Path(plan["log"]), Path(plan["log"] + ".output")
    log.write_bytes(b"")
    argv = [plan["bash"], "--noprofile", "--norc", "-c", command]
    with output.open("wb") as file:
        process = subprocess.Popen(
            argv, stdin=subprocess.DEVNULL, stdout=file, stderr=file, cwd=plan["cwd"], env=plan["env"],
            start_new_session=True,
        )  # fmt: skip
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(plan["seconds"])
    _end_the_rest(plan["seconds"])
    process.wait()
    return output.read_bytes()[:MOST_OUTPUT].decode(errors="replace")


def _end_the_rest(seconds: float) -> None:
    """Let what runs in the background come to its end for a moment, then end it."""
    until = time.monotonic() + seconds / 4
    while others := _others():
        if time.monotonic() > until:
            for pid in others:
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
        time.sleep(0.002)


def _others() -> list[int]:
    """All processes of the sandbox but its first, this one, and those that have ended."""
    found = []
    for name in os.listdir("/proc"):  # noqa: PTH208 - called most often
        if name.isdigit() and int(name) not in (1, os.getpid()):
            with contextlib.suppress(OSError):
                told = Path(f"/proc/{name}/stat").read_text(errors="replace")
                if told.rpartition(")")[2].split()[0] not in "ZX":
                    found.append(int(name))
    return found


def _started(log: Path) -> list[list[str]]:
    """The argument vectors that marker programs wrote down."""
    found: list[list[str]] = []
    vector: list[str] = []
    for piece in log.read_bytes().split(b"\0")[:-1]:
        text = piece.decode(errors="replace")
        if text == "\x1e":
            found.append(vector)
            vector = []
        else:
            vector.append(text)
    return found


if __name__ == "__main__":
    main(json.loads(Path(sys.argv[1]).read_text("utf-8")))
