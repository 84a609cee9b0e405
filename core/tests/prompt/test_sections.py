from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from toolpost import ContextSource, Section, SessionScope
from toolpost.testing import make_scope
from toolpost_core.prompt.sections import Source, gather, renewed


class Says(ContextSource):
    texts: tuple[str, ...]

    async def sections(self, session: SessionScope) -> Sequence[Section]:
        return [Section(name=text, text=text) for text in self.texts]


class Fails(ContextSource):
    async def sections(self, session: SessionScope) -> Sequence[Section]:
        raise OSError("no git here")


class Counts(ContextSource):
    """One section that never changes in a session, and one that does whenever it is asked."""

    asked: list[int]

    async def sections(self, session: SessionScope) -> Sequence[Section]:
        self.asked.append(len(self.asked))
        number = str(len(self.asked))
        return [
            Section(name="first", text=number),
            Section(name="now", text=number, volatile=True, why_volatile="a test counts"),
        ]


async def test_a_source_that_fails_is_named_and_costs_only_its_own_sections(tmp_path: Path) -> None:
    told: list[str] = []
    sources = [Source("git", Fails()), Source("env", Says(texts=("linux",)))]
    sections = await gather(sources, make_scope(tmp_path), told.append)

    assert [one.section.name for one in sections] == ["linux"]
    assert ["git" in text and "no git here" in text for text in told] == [True]


@pytest.mark.parametrize("given", [None, "linux", [("env", "linux")], [Section(name="env", text=None)]])  # type: ignore[arg-type]
async def test_what_is_no_list_of_sections_costs_no_other_source(tmp_path: Path, given: Any) -> None:
    class Odd(ContextSource):
        async def sections(self, session: SessionScope) -> Sequence[Section]:
            return given  # type: ignore[no-any-return]

    told: list[str] = []
    sources = [Source("odd", Odd()), Source("env", Says(texts=("linux",)))]
    sections = await gather(sources, make_scope(tmp_path), told.append)
    assert [one.section.name for one in sections] == ["linux"]
    assert "'odd'" in told[0]


async def test_sources_are_asked_together_and_keep_their_order(tmp_path: Path) -> None:
    both = asyncio.Barrier(2)

    class Meets(ContextSource):
        word: str

        async def sections(self, session: SessionScope) -> Sequence[Section]:
            await both.wait()
            return [Section(name=self.word, text=self.word)]

    async with asyncio.timeout(10):
        found = await gather(
            [Source("1", Meets(word="b")), Source("2", Meets(word="a"))], make_scope(tmp_path), lambda _: None
        )

    assert [(one.plugin, one.section.name) for one in found] == [("1", "b"), ("2", "a")]


async def test_a_source_that_hangs_is_named_and_costs_only_its_own_sections(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Hangs(ContextSource):
        async def sections(self, scope: SessionScope) -> Sequence[Section]:
            await asyncio.Event().wait()
            return ()

    monkeypatch.setattr("toolpost_core.prompt.sections.SOURCE_LIMIT", 0.05)
    told: list[str] = []
    sections = await gather(
        [Source("slow", Hangs()), Source("env", Says(texts=("linux",)))], make_scope(tmp_path), told.append
    )

    assert [one.section.name for one in sections] == ["linux"]
    assert told == ["The context plugin 'slow' gave no answer within 0.05 s: it adds nothing to the prompt."]
    assert len(told) == 1
    assert "'slow'" in told[0]


async def test_only_volatile_sections_are_made_anew_and_only_their_sources_asked(tmp_path: Path) -> None:
    counts, quiet = Counts(asked=[]), Says(texts=("linux",))
    sources = [Source("counts", counts), Source("env", quiet)]
    before = await gather(sources, make_scope(tmp_path), print)
    after = await renewed(before, [sources[0], Source("env", Fails())], make_scope(tmp_path), pytest.fail)

    assert [(one.section.name, one.section.text) for one in after] == [("first", "1"), ("linux", "linux"), ("now", "2")]
