"""Sessions that are disturbed at every point, and programs that are killed at any moment: nothing is lost or done twice.

The long form is `python -m tests.integration.chaos --count 1000 [--kill]`.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest
from tests.integration.chaos.campaign import campaign
from tests.integration.chaos.in_process import chaos_run
from tests.integration.chaos.invariants import broken_by_files, broken_by_transcript, left_behind
from tests.integration.chaos.killed import killed_run
from tests.integration.chaos.patience import while_it_goes_on
from tests.integration.chaos.scenario import LEDGER, expected

PIECE, DISTURBED, KILLED = 8, 56, 4
"""Sixty runs in all. One that is killed takes many starts of the program, four times as long as one that is disturbed."""


@pytest.mark.parametrize("first", range(1, DISTURBED + 1, PIECE))
async def test_a_disturbed_session_ends_as_an_undisturbed_one(first: int, tmp_path: Path) -> None:
    runs = [run async for run in campaign(tmp_path.resolve(), range(first, first + PIECE), chaos_run)]
    assert [str(run) for run in runs if run.broken] == []
    assert sum(run.faults for run in runs) > 5 * PIECE


async def test_a_killed_program_is_resumed_to_the_same_end(tmp_path: Path) -> None:
    runs = [run async for run in campaign(tmp_path.resolve(), range(1, KILLED + 1), killed_run, beside=2)]
    assert [str(run) for run in runs if run.broken] == []
    assert all(run.faults for run in runs)
    assert sum(run.faults for run in runs) > 2 * KILLED


def test_a_step_that_ran_twice_or_not_at_all_is_found_out(tmp_path: Path) -> None:
    wanted = expected(tmp_path)
    ledger = tmp_path / LEDGER
    first, *others = ledger.read_text().splitlines(keepends=True)
    ledger.write_text("".join([*others, others[0]]))
    (tmp_path / "written" / "odd.txt").write_text("odd")
    assert list(broken_by_files(tmp_path, wanted)) == [
        "written/odd.txt differs: 'odd' and not None",
        f"{others[0].strip()} ran 2 times",
        f"{first.strip()} did not run",
    ]


def test_a_transcript_with_two_results_of_a_call_or_a_damaged_line_is_found_out(tmp_path: Path) -> None:
    line = '{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1"}]}}\n'
    (path := tmp_path / "session.jsonl").write_text(line + '{"type":"us\n' + line)
    assert list(broken_by_transcript(path)) == [
        "1 lines of session.jsonl do not parse",
        "the call t1 has more than one result",
    ]
    assert list(broken_by_transcript(path, cut_lines=1)) == ["the call t1 has more than one result"]


async def test_a_process_that_is_left_is_found_out(tmp_path: Path) -> None:
    program = "print(flush=True); input()"
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", program, cwd=tmp_path, stdin=pipe, stdout=pipe)
    assert process.stdout is not None
    await process.stdout.readline()
    try:
        assert [text.split(" [")[0] for text in left_behind(tmp_path)] == [f"process {process.pid}"]
    finally:
        process.kill()
        await process.wait()
    assert left_behind(tmp_path) == []


async def test_a_run_that_is_slow_is_waited_for_and_one_that_hangs_is_not() -> None:
    came: list[int] = []
    async with while_it_goes_on(lambda: len(came), 0.2):
        for number in range(8):
            await asyncio.sleep(0.05)
            came.append(number)
    with pytest.raises(TimeoutError):
        async with while_it_goes_on(lambda: len(came), 0.2):
            await asyncio.Event().wait()
