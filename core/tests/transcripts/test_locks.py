"""One writer a session, also on file systems that know no locks."""

from __future__ import annotations

import errno
import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from toolpost import SessionError
from toolpost_core.transcripts.locks import open_locked

HOLD = """
import errno, fcntl, sys
from pathlib import Path

def flock(fd, operation):
    raise OSError(errno.ENOLCK, "no locks here")

fcntl.flock = flock
from toolpost_core.transcripts.locks import open_locked
open_locked(Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def no_locks(monkeypatch: pytest.MonkeyPatch) -> None:
    """This process is on a file system that knows none."""

    def flock(fd: int, operation: int) -> None:
        raise OSError(37, "No locks available")

    monkeypatch.setattr("fcntl.flock", flock)


def hold(path: Path) -> subprocess.Popen[bytes]:
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"held\n"
    return process


@pytest.mark.requirement("transcript.one_writer")
def test_a_file_beside_it_stands_for_the_lock(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    holder = hold(path)
    try:
        with pytest.raises(SessionError, match=f"pid {holder.pid}"):
            open_locked(path)
    finally:
        holder.send_signal(signal.SIGKILL)
        holder.communicate()
    _, close = open_locked(path)
    with pytest.raises(SessionError, match=f"pid {os.getpid()}"):
        open_locked(path)
    close()

    assert not (tmp_path / "s.lock").exists()


def test_the_file_of_a_process_that_has_its_number_from_another_is_taken_over(tmp_path: Path) -> None:
    held = {"pid": os.getpid(), "host": socket.gethostname(), "began": "1"}
    (tmp_path / "s.lock").write_text(json.dumps(held))
    _, close = open_locked(tmp_path / "s.jsonl")
    close()


def test_the_file_of_another_machine_is_respected(tmp_path: Path) -> None:
    (tmp_path / "s.lock").write_text(json.dumps({"pid": 1, "host": "elsewhere", "began": "1"}))
    with pytest.raises(SessionError, match=r"elsewhere.*delete"):
        open_locked(tmp_path / "s.jsonl")


def test_a_file_that_says_nothing_is_respected_and_named(tmp_path: Path) -> None:
    (tmp_path / "s.lock").write_text("")
    with pytest.raises(SessionError, match=r"s\.lock"):
        open_locked(tmp_path / "s.jsonl")


def test_what_was_written_since_it_was_read_is_not_gone_on_from(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text("{}\n")
    with pytest.raises(SessionError, match="try again"):
        open_locked(path, 2)
    fd, close = open_locked(path, 3)
    assert fd > 2
    close()


def test_a_file_that_can_not_be_written_is_not_kept_from_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "s.jsonl").write_text('{"stub')

    def no_room(fd: int, data: bytes) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(os, "write", no_room)
        with pytest.raises(OSError, match="No space"):
            open_locked(tmp_path / "s.jsonl")
    _, close = open_locked(tmp_path / "s.jsonl")
    close()
