from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from toolpost import Aborted
from toolpost.testing import AbortSwitch
from toolpost_service_processes.local import LocalProcesses

TREE = "sleep 300 & setsid sleep 300 & env -i setsid sleep 300 & (setsid sleep 300 &) ; echo $$; jobs -p; "


@pytest.fixture
async def processes() -> AsyncIterator[LocalProcesses]:
    service = LocalProcesses()
    yield service
    await service.aclose()


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in ("Z", "X")


def sleepers(folder: Path) -> list[int]:
    """The processes that have `folder` as their working folder."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if Path(os.readlink(entry / "cwd")) == folder and alive(int(entry.name)):  # noqa: PTH115
                    found.append(int(entry.name))
            except OSError:
                continue
    return found


async def until_it_sleeps(folder: Path) -> None:
    async with asyncio.timeout(20):
        while len(sleepers(folder)) < 5:  # noqa: ASYNC110 - what is waited for is another process
            await asyncio.sleep(0.01)


async def test_output_and_errors_come_apart_or_together(processes: LocalProcesses, tmp_path: Path) -> None:
    script = ["sh", "-c", "echo out; echo err >&2; exit 3"]
    apart = await processes.run(script, cwd=tmp_path)
    assert (apart.returncode, apart.output, apart.errors) == (3, b"out\n", b"err\n")
    assert (await processes.run(script, cwd=tmp_path, merge_errors=True)).output == b"out\nerr\n"


async def test_input_is_written_while_output_is_read(processes: LocalProcesses, tmp_path: Path) -> None:
    data = os.urandom(1_000_000)
    assert (await processes.run(["cat"], cwd=tmp_path, input=data)).output == data


async def test_without_input_a_reader_meets_the_end_at_once(processes: LocalProcesses, tmp_path: Path) -> None:
    assert (await processes.run(["cat"], cwd=tmp_path)).returncode == 0


async def test_output_over_the_limit_is_counted_and_not_kept(processes: LocalProcesses, tmp_path: Path) -> None:
    finished = await processes.run(["head", "-c", "300000", "/dev/zero"], cwd=tmp_path, max_output=1000)
    assert (len(finished.output), finished.dropped) == (1000, 299_000)


async def test_a_missing_program_and_a_missing_folder_raise(processes: LocalProcesses, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        await processes.run(["no-such-program-zz"], cwd=tmp_path)
    with pytest.raises(FileNotFoundError):
        await processes.run(["true"], cwd=tmp_path / "gone")


@pytest.mark.requirement("processes.group_is_ended")
@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
async def test_at_a_time_out_the_whole_tree_is_ended(processes: LocalProcesses, tmp_path: Path) -> None:
    finished = await processes.run(["bash", "-c", TREE + "wait"], cwd=tmp_path, timeout=0.5)
    assert finished.timed_out
    assert finished.output
    assert sleepers(tmp_path) == []


@pytest.mark.requirement("processes.group_is_ended")
@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
async def test_an_abort_ends_the_whole_tree(processes: LocalProcesses, tmp_path: Path) -> None:
    switch = AbortSwitch()
    call = asyncio.create_task(processes.run(["bash", "-c", TREE + "wait"], cwd=tmp_path, abort=switch))
    await until_it_sleeps(tmp_path)
    switch.trigger()
    with pytest.raises(Aborted):
        await call
    assert sleepers(tmp_path) == []


@pytest.mark.requirement("processes.group_is_ended")
@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
async def test_a_cancelled_call_ends_the_whole_tree(processes: LocalProcesses, tmp_path: Path) -> None:
    call = asyncio.create_task(processes.run(["bash", "-c", TREE + "wait"], cwd=tmp_path))
    await until_it_sleeps(tmp_path)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert sleepers(tmp_path) == []


async def test_who_ignores_the_polite_signal_is_killed(processes: LocalProcesses, tmp_path: Path) -> None:
    script = "trap '' TERM INT; echo ready; while :; do sleep 1; done"
    process = await processes.start(["bash", "-c", script], cwd=tmp_path)
    await process.read()
    await process.stop(grace=0.05)
    assert process.returncode == -signal.SIGKILL


async def test_a_child_that_keeps_the_pipe_open_does_not_hang_the_call(
    processes: LocalProcesses, tmp_path: Path
) -> None:
    async with asyncio.timeout(10):
        finished = await processes.run(["sh", "-c", "sleep 60 & echo done"], cwd=tmp_path)
    assert finished.output == b"done\n"


@pytest.mark.requirement("processes.group_is_ended")
@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
async def test_the_end_of_the_session_ends_what_was_left_behind(tmp_path: Path) -> None:
    service = LocalProcesses()
    await service.run(["bash", "-c", "nohup sleep 300 >/dev/null 2>&1 & setsid sleep 300 & echo"], cwd=tmp_path)
    assert len(sleepers(tmp_path)) == 2
    await service.aclose()
    assert sleepers(tmp_path) == []


@pytest.mark.requirement("processes.reaped_after_sigkill")
@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_a_kill_of_ourselves_ends_what_we_started(tmp_path: Path) -> None:
    program = textwrap.dedent(f"""
        import asyncio
        from pathlib import Path
        from toolpost_service_processes.local import LocalProcesses

        async def main():
            service = LocalProcesses()
            process = await service.start(["bash", "-c", {TREE + "wait"!r}], cwd=Path({str(tmp_path)!r}))
            await process.read()
            print("started", flush=True)
            await process.wait()

        asyncio.run(main())
    """)
    ours = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)
    assert ours.stdout is not None
    assert ours.stdout.readline() == b"started\n"
    assert sleepers(tmp_path)
    ours.kill()
    ours.wait()
    ours.stdout.close()
    for _ in range(500):
        if not sleepers(tmp_path):
            return
        subprocess.run(["sleep", "0.02"], check=True)
    left = sleepers(tmp_path)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    pytest.fail(f"{len(left)} processes outlived us")


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
async def test_no_zombie_stays(processes: LocalProcesses, tmp_path: Path) -> None:
    for _ in range(20):
        await processes.run(["true"], cwd=tmp_path)
    assert zombies() == []


def zombies() -> list[str]:
    children = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split()
    states = {pid: Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] for pid in children}
    return [pid for pid, state in states.items() if state == "Z"]
