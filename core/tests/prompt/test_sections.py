from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from toolpost import ContextSource, Section, SessionScope
from toolpost.testing import make_scope
from toolpost_core.prompt.sections import Source, compose, gather


class Says(ContextSource):
    texts: tuple[str, ...]

    async def sections(self, session: SessionScope) -> Sequence[Section]:
        return [Section(name=text, text=text) for text in self.texts]


class Fails(ContextSource):
    async def sections(self, session: SessionScope) -> Sequence[Section]:
        raise OSError("no git here")


def section(
    name: str, *, static: bool = False, user: bool = False, order: int = 50, text: str | None = None
) -> Section:
    return Section(name=name, text=name if text is None else text, static=static, user=user, order=order)


def test_what_never_changes_stands_before_what_does_each_at_the_end_of_a_cached_prefix() -> None:
    prompt = compose([section("today"), section("rules", static=True)], replaced_by="You are us.")

    assert [(block.text, block.cache) for block in prompt.system] == [("You are us.\n\nrules", True), ("today", True)]


def test_sections_stand_in_their_order_then_by_name_however_they_come() -> None:
    sections = [section("b"), section("z", order=1), section("a")]

    assert compose(sections).system[1].text == compose(sections[::-1]).system[1].text == "z\n\na\n\nb"


def test_sections_for_the_user_side_go_before_the_first_prompt() -> None:
    prompt = compose([section("memory", user=True), section("rules", static=True, user=True)])

    assert len(prompt.system) == 1
    assert prompt.user == "memory\n\nrules"


def test_empty_sections_leave_no_block() -> None:
    assert len(compose([section("nothing", text=" \n")], appended="").system) == 1


def test_an_appended_text_stands_last() -> None:
    assert compose([section("today")], appended="Be brief.").system[-1].text == "today\n\nBe brief."


async def test_a_source_that_fails_is_named_and_costs_only_its_own_sections(tmp_path: Path) -> None:
    told: list[str] = []
    sources = [Source("git", Fails()), Source("env", Says(texts=("linux",)))]
    sections = await gather(sources, make_scope(tmp_path), told.append)

    assert [s.name for s in sections] == ["linux"]
    assert ["git" in text and "no git here" in text for text in told] == [True]


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

    assert [s.name for s in found] == ["b", "a"]


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

    assert [section.name for section in sections] == ["linux"]
    assert told == ["The context plugin 'slow' gave no answer within 0.05 s: it adds nothing to the prompt."]
    assert len(told) == 1
    assert "'slow'" in told[0]
