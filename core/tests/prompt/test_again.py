"""What context plugins attach again after a summary."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from toolpost import Compacted, ContextSource, Section, SessionScope, tokens_in_text
from toolpost.testing import make_scope
from toolpost_core.prompt.again import attached
from toolpost_core.prompt.sections import Source


class Attaches(ContextSource):
    again: tuple[Section, ...] = ()
    fails: bool = False

    async def sections(self, scope: SessionScope) -> Sequence[Section]:
        return ()

    async def after_compaction(self, scope: SessionScope, compacted: Compacted) -> Sequence[Section]:
        if self.fails:
            raise RuntimeError("no plan")
        return self.again


def section(name: str, order: int, text: str) -> Section:
    return Section(name=name, order=order, text=text)


async def texts(
    folder: Path, *sources: Attaches, each: int = 5_000, budget: int = 50_000
) -> tuple[list[str], list[str]]:
    """Return what was attached, and what was reported."""
    reports: list[str] = []
    named = [Source(f"plugin{number}", source) for number, source in enumerate(sources)]
    compacted = Compacted(before=(), left=())
    made = await attached(named, make_scope(folder), compacted, reports.append, each=each, budget=budget)
    return made, reports


async def test_sections_of_all_come_as_reminders_by_their_order(tmp_path: Path) -> None:
    first, second = (
        Attaches(again=(section("b", 20, "two"), section("c", 30, "  "))),
        Attaches(again=(section("a", 10, "one"),)),
    )
    made, reports = await texts(tmp_path, first, second)
    assert made == [f"<system-reminder>\n{text}\n</system-reminder>" for text in ("one", "two")]
    assert reports == []


async def test_each_is_cut_and_those_that_come_later_are_left_out_where_there_is_no_room(tmp_path: Path) -> None:
    long = [section(name, order, f"{name} " + "word " * 40_000) for order, name in enumerate("abcdefghijklm")]
    made, _ = await texts(tmp_path, Attaches(again=tuple(reversed(long))), each=5_000, budget=50_000)
    assert [text.split()[1] for text in made] == list("abcdefghijk")[: len(made)]
    assert 9 <= len(made) <= 11
    assert max(map(tokens_in_text, made)) <= 5_020
    assert sum(map(tokens_in_text, made)) <= 50_000


async def test_one_that_does_not_fit_makes_no_room_for_a_later_one(tmp_path: Path) -> None:
    made, _ = await texts(
        tmp_path, Attaches(again=(section("a", 1, "word " * 1_000), section("b", 2, "short"))), budget=500
    )
    assert made == []


async def test_a_plugin_that_fails_is_reported_and_left_out(tmp_path: Path) -> None:
    made, reports = await texts(tmp_path, Attaches(fails=True), Attaches(again=(section("a", 1, "one"),)))
    assert len(made) == 1
    assert "'plugin0'" in reports[0]
    assert "no plan" in reports[0]
