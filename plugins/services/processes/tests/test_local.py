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

# Without its parent, environment, session and descriptors.
_HIDES = "for n in {0..255}; do eval exec $n'>&-'; done; exec sleep 300"
ORPHAN = f'(env -i setsid bash -c "{_HIDES}" &) ; '.replace("$", r"\$")
TREE = f"sleep 300 & setsid sleep 300 & env -i setsid sleep 300 & (setsid sleep 300 &) ; {ORPHAN} echo $$; jobs -p; "


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
        while len(sleepers(folder)) < 6:  # noqa: ASYNC110 - what is waited for is another process
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


async def test_the_polite_signals_come_one_after_the_other(processes: LocalProcesses, tmp_path: Path) -> None:
    script = "trap 'echo INT' INT; trap 'echo TERM; exit 7' TERM; echo ready; while :; do sleep 0.02; done"
    process = await processes.start(["bash", "-c", script], cwd=tmp_path)
    assert await process.read() == b"ready\n"
    stopping = asyncio.create_task(process.stop(grace=2.0))
    output = b""
    while data := await process.read():
        output += data
    await stopping
    assert (output, process.returncode) == (b"INT\nTERM\n", 7)


async def test_others_of_the_group_have_time_for_their_end_too(processes: LocalProcesses, tmp_path: Path) -> None:
    server = "trap 'sleep 0.1; echo saved > state; exit' TERM; echo ready; while :; do sleep 0.02; done"
    process = await processes.start(["bash", "-c", f"({server}) & wait"], cwd=tmp_path)
    assert await process.read() == b"ready\n"
    await process.stop(grace=2.0)
    assert (tmp_path / "state").read_text() == "saved\n"


@pytest.mark.skipif(sys.platform != "linux", reason="uses setsid")
async def test_another_group_is_told_to_end_where_the_process_only_holds_it(
    processes: LocalProcesses, tmp_path: Path
) -> None:
    inner = "trap 'echo INT' INT; trap 'echo TERM; exit' TERM; echo $$; while :; do sleep 0.02; done"
    holder = 'setsid -w bash -c "$1"; exit 7'
    process = await processes.start(["bash", "-c", holder, "holder", inner], cwd=tmp_path)
    group = int(await process.read())
    stopping, output = asyncio.create_task(process.stop(grace=2.0, group=group)), b""
    while data := await process.read():
        output += data
    await stopping
    assert (output, process.returncode) == (b"INT\nTERM\n", 7)


async def test_what_it_writes_last_is_read_before_it_is_gone(processes: LocalProcesses, tmp_path: Path) -> None:
    script = "trap 'printf %0100000d 7; exit' INT; echo; while :; do sleep 0.01; done"
    for _ in range(10):
        process = await processes.start(["bash", "-c", script], cwd=tmp_path)
        await process.read()
        stopping, size = asyncio.create_task(process.stop(grace=2.0)), 0
        while data := await process.read():
            size += len(data)
        await stopping
        assert size == 100_000


async def test_who_reads_when_a_process_is_stopped_meets_the_end(processes: LocalProcesses, tmp_path: Path) -> None:
    process = await processes.start(["sleep", "300"], cwd=tmp_path)
    reading = asyncio.create_task(process.read())
    await asyncio.sleep(0)
    process.close()
    assert await reading == b""
    await process.stop()


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
    await service.run(
        ["bash", "-c", f"nohup sleep 300 >/dev/null 2>&1 & setsid sleep 300 & {ORPHAN} echo"], cwd=tmp_path
    )
    assert len(sleepers(tmp_path)) == 3
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
    assert_all_end(tmp_path)


@pytest.mark.requirement("processes.reaped_after_sigkill")
@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_a_kill_right_behind_the_start_of_the_first_child_ends_that_too(tmp_path: Path) -> None:
    program = textwrap.dedent(f"""
        import asyncio, os, signal, subprocess
        from pathlib import Path
        from toolpost_service_processes.local import LocalProcesses

        class Deadly(subprocess.Popen):
            def __init__(self, argv, **options):
                super().__init__(argv, **options)
                if argv[0] == "bash":
                    self.stdout.read(1)
                    os.kill(os.getpid(), signal.SIGKILL)

        subprocess.Popen = Deadly
        command = "exec 0<&- 2>&-; echo; exec sleep 300"
        asyncio.run(LocalProcesses().start(["bash", "-c", command], cwd=Path({str(tmp_path)!r})))
    """)
    ours = subprocess.run([sys.executable, "-c", program], check=False)
    assert ours.returncode == -signal.SIGKILL
    assert_all_end(tmp_path)


def assert_all_end(folder: Path) -> None:
    """Wait for another process, the watchdog; what it leaves is ended here."""
    for _ in range(500):
        if not sleepers(folder):
            return
        subprocess.run(["sleep", "0.02"], check=True)
    left = sleepers(folder)
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


async def test_output_can_be_taken_as_it_comes(processes: LocalProcesses, tmp_path: Path) -> None:
    pieces: list[bytes] = []
    go_on = tmp_path / "go-on"

    def take(piece: bytes) -> bool:
        pieces.append(piece)
        go_on.touch()
        return True

    script = f"echo one; until [ -e {go_on} ]; do sleep 0.01; done; echo two; echo err >&2"
    finished = await processes.run(["sh", "-c", script], cwd=tmp_path, on_output=take)

    assert (b"".join(pieces), finished.output, finished.errors) == (b"one\ntwo\n", b"", b"err\n")
    assert pieces[0] == b"one\n"


async def test_who_wants_no_more_output_ends_the_process(processes: LocalProcesses, tmp_path: Path) -> None:
    finished = await processes.run(["yes"], cwd=tmp_path, on_output=lambda _: False)

    assert (finished.returncode, finished.timed_out) == (-signal.SIGKILL, False)


async def test_who_fails_at_the_output_ends_the_process_and_is_heard_of(
    processes: LocalProcesses, tmp_path: Path
) -> None:
    def take(_: bytes) -> bool:
        raise ValueError("no such line")

    with pytest.raises(ValueError, match="no such line"):
        await processes.run(["yes"], cwd=tmp_path, on_output=take)
