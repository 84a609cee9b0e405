from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest
from commands_bench import Bench, ends, runs  # type: ignore[import-not-found]

from toolpost import Aborted


async def test_both_streams_come_in_order_and_small_output_makes_no_file(bench: Bench, tmp_path: Path) -> None:
    ended = await bench.run("echo one; echo two >&2; echo three; exit 3")
    assert (ended.code, ended.output, ended.output_file) == (3, "one\ntwo\nthree\n", None)
    assert not (tmp_path / "tool-results").exists()


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/stderr", "/proc/self/fd/1"])
async def test_opening_the_output_by_name_loses_nothing_of_it(bench: Bench, name: str) -> None:
    ended = await bench.run(f"echo one; echo two > {name}; echo three | tee {name}; echo four")
    assert ended.output.split() == ["one", "two", "three", "three", "four"]


async def test_a_process_substitution_that_ends_after_the_shell_is_still_read(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toolpost_service_commands.running._DRAIN_SECONDS", 10.0)  # on a busy machine it ends late
    assert (await bench.run("echo late > >(sleep 0.03; cat)")).output == "late\n"


async def test_standard_input_is_empty(bench: Bench) -> None:
    assert (await bench.run("cat; read x || echo end")).output == "end\n"


async def test_much_output_goes_to_a_file_with_both_ends_shown(bench: Bench, tmp_path: Path) -> None:
    ended = await bench.run("seq 1 500000; echo last >&2")
    assert ended.output.startswith("1\n2\n3\n")
    assert ended.output.endswith("500000\nlast\n")
    assert len(ended.output) < 30_000
    assert ended.output_file is not None
    assert ended.output_file.parent == tmp_path / "tool-results"
    assert ended.output_file.stat().st_mode & 0o777 == 0o600
    lines = ended.output_file.read_text().splitlines()
    assert (len(lines), lines[-1], ended.size) == (500_001, "last", ended.output_file.stat().st_size)


@pytest.mark.parametrize("last", [50_000, 500_000])
async def test_where_no_file_can_be_made_the_command_runs_to_its_end(bench: Bench, tmp_path: Path, last: int) -> None:
    (tmp_path / "tool-results").write_text("in the way")
    ended = await bench.run(f"seq 1 {last}; exit 4")
    assert (ended.code, ended.output_file) == (4, None)
    assert ended.output.startswith("1\n2\n")
    assert "[The output could not be kept: " in ended.output


async def test_output_that_only_redraws_a_line_stays_small(bench: Bench) -> None:
    ended = await bench.run("for i in {1..30000}; do printf '\\rstep %d' $i; done; echo")
    assert (ended.output, ended.output_file) == ("step 30000\n", None)


async def test_the_end_by_a_signal_is_told_as_a_shell_does(bench: Bench) -> None:
    assert (await bench.run("kill -TERM $$")).code == 143


async def test_at_the_time_out_everything_ends_and_what_was_printed_is_there(bench: Bench) -> None:
    ended = await bench.run("trap '' INT TERM; echo started; sleep 300 & echo $!; sleep 300", timeout=0.5)
    assert ended.timed_out
    started, pid = ended.output.split()
    assert started == "started"
    await ends(int(pid))


async def test_a_command_may_clean_up_when_its_time_is_over(bench: Bench) -> None:
    ended = await bench.run("trap 'echo cleaned; exit' INT; echo go; while :; do sleep 0.05; done", timeout=0.4)
    assert (ended.timed_out, ended.output) == (True, "go\ncleaned\n")


async def test_an_abort_ends_everything_within_its_time(bench: Bench) -> None:
    call = asyncio.create_task(
        bench.run("trap '' INT TERM; echo begun; echo $$ > new; mv new pid; sleep 300; sleep 300")
    )
    pid = await bench.pid()
    began = asyncio.get_running_loop().time()
    bench.abort.trigger()
    with pytest.raises(Aborted) as called_off:
        await call
    assert called_off.value.so_far == "begun\n"
    assert asyncio.get_running_loop().time() - began < 1.0
    assert not runs(pid)


async def test_a_cancelled_call_ends_everything_and_keeps_no_file(bench: Bench, tmp_path: Path) -> None:
    call = asyncio.create_task(bench.run("seq 1 500000; echo $$ > new; mv new pid; sleep 300"))
    pid = await bench.pid()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    await ends(pid)
    assert list((tmp_path / "tool-results").iterdir()) == []


async def test_what_is_left_behind_holds_nobody_up_and_can_go_on_writing(bench: Bench) -> None:
    script = "(for i in {1..30000}; do echo $i; done; sleep 0.2; echo on; echo $BASHPID > new; mv new pid; sleep 300) &"
    async with asyncio.timeout(10):
        ended = await bench.run(f"{script} echo $!")
    pid = int(ended.output.splitlines()[0])
    assert await bench.pid() == pid
    assert runs(pid)
    await bench.commands.aclose()
    await ends(pid)


async def test_progress_has_the_last_lines_each_second(bench: Bench) -> None:
    await bench.run("for i in {1..9}; do echo line $i; done; printf '10%%\\r20%%'; sleep 2.3")
    assert bench.progress.lines[0].splitlines() == ["line 6", "line 7", "line 8", "line 9", "20%"]
    assert [round(data["elapsed"]) for data in bench.progress.data] == [1, 2]
    assert bench.progress.data[0]["bytes"] == 70


async def test_a_flood_is_ended_and_keeps_no_file(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toolpost_service_commands.running.MOST_OUTPUT", 5_000_000)
    ended = await bench.run("yes; sleep 300")
    assert ended.flooded
    assert ended.output.startswith("y\ny\n")
    assert ended.output_file is None
    assert list((tmp_path / "tool-results").iterdir()) == []


async def test_a_flood_does_not_keep_an_abort_waiting(bench: Bench, tmp_path: Path) -> None:
    call = asyncio.create_task(bench.run("yes"))
    async with asyncio.timeout(20):
        while not list((tmp_path / "tool-results").glob("*")):  # noqa: ASYNC110 - another process makes it
            await asyncio.sleep(0.01)
    bench.abort.trigger()
    async with asyncio.timeout(2):
        with pytest.raises(Aborted):
            await call


async def test_a_missing_shell_or_folder_is_told(bench: Bench) -> None:
    with pytest.raises(FileNotFoundError):
        await bench.run("true", cwd=bench.folder / "gone")


async def test_the_folder_comes_back_where_a_command_removed_it(bench: Bench) -> None:
    bench.commands.folder().rmdir()
    assert bench.commands.folder().is_dir()
    assert os.access(bench.commands.folder(), os.W_OK)
