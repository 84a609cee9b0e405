"""The contract kit of skill loaders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from toolpost.skills import Skill
from toolpost.testing._contract import PluginContract, finish
from toolpost.testing.context import make_scope


class SkillLoaderContract(PluginContract):
    """The suite for a skill loader.

    `expected` are the names of the skills that it finds with `files` in the folder, broken ones left out: put a broken
    one among the files where skills come from files, and its name in `broken`. `scope` are fields of the SessionScope.
    """

    group = "skill_loaders"
    expected: ClassVar[Sequence[str]]
    broken: ClassVar[Sequence[str]] = ()
    scope: ClassVar[Mapping[str, Any]] = {}

    def test_it_finds_what_is_there_and_passes_over_what_is_broken(self, folder: Path) -> None:
        """If this fails: leave out what can't be read, and return the others: one bad file must not cost all of them."""
        assert sorted(skill.name for skill in self._load(folder)) == sorted(self.expected)

    def test_each_skill_says_what_it_is_for(self, folder: Path) -> None:
        """If this fails: a skill needs a description and a body; the model chooses by the one and follows the other."""
        assert all(skill.description.strip() and skill.body.strip() for skill in self._load(folder))

    def test_what_is_broken_is_reported_by_name(self, folder: Path) -> None:
        """If this fails: scope.report names the file that can't be read; else its author waits for it in vain."""
        told: list[str] = []
        finish(self.make().load(make_scope(folder, **{**self.scope, "report": told.append})))
        assert [name for name in self.broken if not any(name in text for text in told)] == [], f"reported: {told}"

    def test_loading_twice_gives_the_same(self, folder: Path) -> None:
        """If this fails: sort what comes from a folder; the list of skills is part of the cached prompt."""
        assert self._load(folder) == self._load(folder)

    def _load(self, folder: Path) -> Sequence[Skill]:
        skills: Sequence[Skill] = finish(self.make().load(make_scope(folder, **self.scope)))
        return skills
