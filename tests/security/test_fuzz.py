"""The differential test in its short form: what is decided to be allowed is run, and must do nothing that no rule grants.

The long form is `python -m tests.security.fuzz --count 200000 --seed N`, with `--about files` for rules about files.
"""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest
from tests.security.fuzz.campaign import FILES, campaign, file_lines
from tests.security.fuzz.deciding import FILE_RULE_SETS, RULE_SETS, fault
from tests.security.fuzz.sandbox import sandbox, why_not
from tests.security.fuzz.world import make_file_world, make_world

COUNT, PIECES = 4_000, 8
ABOUT_FILES, PIECES_ABOUT_FILES = 1_000, 4
pytestmark = pytest.mark.skipif(bool(why_not()), reason=why_not() or "it can be run")


@pytest.mark.timeout(600)
@pytest.mark.parametrize("seed", range(1, PIECES + 1))
async def test_an_allowed_command_does_nothing_that_no_rule_grants(seed: int, tmp_path: Path) -> None:
    report = None
    async for report in campaign(tmp_path, count=COUNT // PIECES, seed=seed):
        assert report.findings == [], "\n".join(map(str, report.findings))
    assert report is not None
    assert report.run - report.lost > report.made / 4
    assert all(report.allowed[rule_set.name] > 10 for rule_set in RULE_SETS)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("seed", range(1, PIECES_ABOUT_FILES + 1))
async def test_a_line_that_opens_a_forbidden_file_is_not_allowed(seed: int, tmp_path: Path) -> None:
    report = None
    async for report in campaign(tmp_path, count=ABOUT_FILES // PIECES_ABOUT_FILES, seed=seed, subject=FILES):
        assert report.findings == [], "\n".join(map(str, report.findings))
    assert report is not None


def test_most_lines_about_files_do_open_them(tmp_path: Path) -> None:
    world = make_file_world(tmp_path)
    with sandbox(world) as runner:
        outcomes = runner.run(list(islice(file_lines(1, world), 100)))
    assert sum(bool(fault(FILE_RULE_SETS[0], outcome, world)) for outcome in outcomes) > 40


@pytest.mark.parametrize(
    ("command", "what"),
    [
        ("cat .env", "showed the secret"),
        ("rev secrets/k", "showed the secret"),
        ("base64 ~/.ssh/id", "showed the secret"),
        ("xxd -p l.txt", "showed the secret"),
        ("git show HEAD:.env", "showed the secret"),
        ("wc -l .env", "read "),
        ("echo a > config/app.ini", "changed "),
        ("touch config/made", "changed "),
        ("rm .env", "changed "),
        ("git restore config", "changed "),
        ("cat config/app.ini", ""),
        ("ls -la secrets .env", ""),
        ("git status; cat a.txt > made", ""),
    ],
)
def test_a_line_that_opens_a_forbidden_file_is_found_out(command: str, what: str, tmp_path: Path) -> None:
    world = make_file_world(tmp_path)
    with sandbox(world) as runner:
        [outcome] = runner.run([command])
    for rule_set in FILE_RULE_SETS:
        found = fault(rule_set, outcome, world)
        assert found.startswith(what)
        assert bool(found) == bool(what)


@pytest.mark.parametrize(
    ("command", "faulty_under"),
    [
        ("true", set()),
        ("okay a", {"no rules", "no rules but for files", "edits"}),
        ("npm test", {"no rules", "no rules but for files", "edits"}),
        ("(cd src; /bin/rm x) &", {"no rules", "no rules but for files", "some programs", "all of Bash", "bypass"}),
        ("git -C . push", {"all of Bash", "bypass"}),
        ("touch made", {"no rules", "no rules but for files", "some programs"}),
        ("touch secrets/made", {"no rules", "no rules but for files", "some programs", "edits"}),
        ("tr a a < .env", {"no rules but for files", "some programs", "edits"}),
        ("git status", set()),
        ("cd vendor && git status", {rule_set.name for rule_set in RULE_SETS} - {"all of Bash", "bypass"}),
    ],
)
def test_a_command_that_should_not_have_been_allowed_is_found_out(
    command: str, faulty_under: set[str], tmp_path: Path
) -> None:
    world = make_world(tmp_path)
    with sandbox(world) as runner:
        [outcome] = runner.run([command])
    assert {rule_set.name for rule_set in RULE_SETS if fault(rule_set, outcome, world)} == faulty_under


def test_a_command_that_brings_the_sandbox_down_is_lost_and_the_next_runs(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    with sandbox(world) as runner:
        before, lost, after = runner.run(["okay a", "kill -9 -1", "okay b"])
    assert (before.started, lost.lost, after.started) == ([["okay", "a"]], True, [["okay", "b"]])
