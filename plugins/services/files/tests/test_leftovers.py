"""Temporary files of processes that were killed."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from toolpost_service_files.local import LocalFiles

FILES = LocalFiles()
KILLED_WHILE_IT_WRITES = """
import asyncio, os, signal, sys
from pathlib import Path
from toolpost_service_files.local import LocalFiles

os.fsync = lambda descriptor: os.kill(os.getpid(), signal.SIGKILL)
asyncio.run(LocalFiles().write_bytes(Path(sys.argv[1]), b"new"))
"""


def leftovers(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.name.startswith("."))


@pytest.fixture
def sleeper() -> Iterator[int]:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        yield process.pid


def killed_while_writing(path: Path) -> int:
    return subprocess.run([sys.executable, "-c", KILLED_WHILE_IT_WRITES, str(path)], check=False).returncode


def dead_process() -> int:
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    return process.pid


async def test_what_a_killed_write_left_goes_with_the_next_write_in_that_folder(tmp_path: Path) -> None:
    assert killed_while_writing(tmp_path / "a") == -signal.SIGKILL
    assert len(leftovers(tmp_path)) == 1

    await FILES.write_bytes(tmp_path / "b", b"x")
    assert [path.name for path in tmp_path.iterdir()] == ["b"]


async def test_the_file_of_a_live_process_stays(tmp_path: Path, sleeper: int) -> None:
    name = f".{sleeper}-0123abcd.toolpost.tmp"
    (tmp_path / name).touch()

    await FILES.write_bytes(tmp_path / "b", b"x")
    assert leftovers(tmp_path) == [name]


async def test_a_file_that_somebody_holds_stays_though_its_process_cant_be_seen(tmp_path: Path) -> None:
    name = f".{dead_process()}-0123abcd.toolpost.tmp"
    descriptor = os.open(tmp_path / name, os.O_WRONLY | os.O_CREAT)
    fcntl.flock(descriptor, fcntl.LOCK_EX)

    await FILES.write_bytes(tmp_path / "b", b"x")
    assert leftovers(tmp_path) == [name]
    os.close(descriptor)
    await FILES.write_bytes(tmp_path / "b", b"y")
    assert leftovers(tmp_path) == []


async def test_files_of_other_names_stay(tmp_path: Path) -> None:
    names = sorted([".1-0123abcd.tmp", f".{dead_process()}-0123abcd.toolpost.tmp.txt", ".x-0123abcd.toolpost.tmp"])
    for name in names:
        (tmp_path / name).touch()

    await FILES.write_bytes(tmp_path / "b", b"x")
    assert leftovers(tmp_path) == names
