"""The contract kit of context sources."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from toolpost.prompt import Exchanged, Section
from toolpost.testing._contract import PluginContract, finish
from toolpost.testing._folders import snapshot
from toolpost.testing.context import make_scope

_NAME = re.compile(r"[a-z0-9_.:-]+")
_TELLING = 8
"""Characters from which on a line of a file is known again in a section."""


class ContextSourceContract(PluginContract):
    """The suite for a context source.

    `scope` are fields of the SessionScope that it is asked with. Where it reads the workspace, `files` hold what it finds.
    """

    group = "context"
    scope: ClassVar[Mapping[str, Any]] = {}
    max_chars: ClassVar[int] = 40_000

    def test_its_sections_are_named_and_bounded(self, folder: Path) -> None:
        """If this fails: give each section a name of its own, and cut its text: every request carries it."""
        sections = self._sections(folder)
        names = [section.name for section in sections]
        assert [name for name in names if not _NAME.fullmatch(name)] == []
        assert len(set(names)) == len(names), f"{names} has a name twice"
        size = sum(len(section.text) for section in sections)
        assert size <= self.max_chars, f"the sections have {size} characters"

    def test_its_sections_are_the_same_bytes_each_time(self, folder: Path) -> None:
        """If this fails: leave times, sets and random ids out: they cost the prompt cache. Or mark the section volatile."""
        first, second = ([s for s in self._sections(folder) if not s.volatile] for _ in range(2))
        assert first == second

    def test_static_sections_do_not_depend_on_the_session(self, folder: Path) -> None:
        """If this fails: a static section is shared by all sessions of a machine; make it dynamic."""
        for section in self._sections(folder):
            if section.static:
                assert str(folder) not in section.text
                assert not section.user

    def test_text_of_the_workspace_is_not_put_among_the_systems(self, folder: Path) -> None:
        """If this fails: make it a `user` section: anybody may have written the files, and the system's words are obeyed."""
        texts = [content for content in self.files.values() if isinstance(content, str)]
        lines = {line.strip() for text in texts for line in text.splitlines() if len(line.strip()) >= _TELLING}
        systems = [section for section in self._sections(folder) if not section.user]
        assert [(s.name, line) for s in systems for line in sorted(lines) if line in s.text] == []

    def test_it_reminds_of_nothing_where_nothing_happened(self, folder: Path) -> None:
        """If this fails: return a text only where something is new: it is asked before each request."""
        source, scope = self.make(), make_scope(folder, **self.scope)
        finish(source.sections(scope))
        assert list(finish(source.reminders(scope, Exchanged(messages=(), new=())))) == []

    def test_asking_it_changes_nothing(self, folder: Path) -> None:
        """If this fails: only read; the person asked for nothing yet."""
        before = snapshot(folder)
        self._sections(folder)
        assert snapshot(folder) == before

    def _sections(self, folder: Path) -> Sequence[Section]:
        sections: Sequence[Section] = finish(self.make().sections(make_scope(folder, **self.scope)))
        return sections
