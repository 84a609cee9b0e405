"""The benchmark of what compaction forgets: it counts rightly, and at a small size the targets are met."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from tests.benchmarks.compaction_quality import BASELINE, RATIO, TARGET, WORDINGS, compare, contestants, kept
from tests.benchmarks.extract import extract
from tests.benchmarks.planted import FOUND, KINDS, MUST, Fact, planted
from tests.benchmarks.wordings import Wording

from toolpost import tokens_of
from toolpost.testing._legal import broken_rules

ROOT = Path(__file__).parents[2]


def test_a_fact_is_there_only_where_all_of_it_stands_together() -> None:
    fact = Fact("constraint", ("ledger_7", "signature"))
    assert fact.is_in(["other", "The signature of ledger_7 stays."])
    assert not fact.is_in(["ledger_7", "signature"])


def test_sessions_are_legal_the_same_for_a_seed_and_hold_what_was_planted() -> None:
    session = planted(1, 120_000)
    assert list(broken_rules(session.messages)) == []
    assert planted(1, 120_000).messages == session.messages != planted(2, 120_000).messages
    assert {fact.kind for fact in session.facts} == set(KINDS)
    assert 120_000 <= tokens_of(session.messages) < 140_000


@pytest.mark.parametrize("wording", WORDINGS.values(), ids=WORDINGS)
def test_what_was_said_done_and_found_out_is_kept_at_a_tenth_however_it_is_put(wording: Wording) -> None:
    tokens = 60_000
    found = asyncio.run(compare(contestants(tokens), extract, tokens, range(1), wording))
    scores = {score.name: score for score in found}
    for name in ("summary", "session_memory", "session_memory, notes", "reactive"):
        assert scores[name].ratio >= RATIO, name
        assert kept(scores[name].first, MUST) >= TARGET, name
        assert kept(scores[name].last, MUST) >= TARGET, name
        assert kept(scores[name].last, FOUND) >= TARGET, name
    assert kept(scores[BASELINE].last, MUST) < 0.5


def test_it_prints_a_row_and_bars_for_each_and_writes_a_plot(tmp_path: Path) -> None:
    plot = tmp_path / "plot.svg"
    argv = [sys.executable, "-m", "tests.benchmarks.compaction_quality", "--tokens", "20000", "--sessions", "1"]
    said = subprocess.run([*argv, "--svg", str(plot)], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    table, measures, drawn = said.split("\n\n")
    names = [one.name for one in contestants(20_000)]
    assert [line.split("  ")[0] for line in table.splitlines()[2:]] == names
    bars = drawn.splitlines()
    each = len(measures.splitlines())
    assert [line.split(" (")[0] for line in bars[::each]] == names
    assert len(bars) == each * len(names)
    assert ElementTree.parse(plot).getroot().tag.endswith("svg")
