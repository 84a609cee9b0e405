"""The contract kit of agent loaders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from toolpost.agents import AgentDefinition
from toolpost.testing._contract import PluginContract, finish
from toolpost.testing.context import make_scope


class AgentLoaderContract(PluginContract):
    """The suite for an agent loader.

    `expected` are the names of the agents that it finds with `files` in the folder, broken ones left out: put a broken
    one among the files where agents come from files, and its name in `broken`. `scope` are fields of the SessionScope.
    """

    group = "agent_loaders"
    expected: ClassVar[Sequence[str]]
    broken: ClassVar[Sequence[str]] = ()
    scope: ClassVar[Mapping[str, Any]] = {}

    def test_it_finds_what_is_there_and_passes_over_what_is_broken(self, folder: Path) -> None:
        """If this fails: leave out what can't be read, and return the others: one bad file must not cost all of them."""
        assert sorted(agent.name for agent in self._load(folder)) == sorted(self.expected)

    def test_each_agent_says_what_it_is_for(self, folder: Path) -> None:
        """If this fails: an agent needs a description, by which the model chooses, and a prompt."""
        assert all(agent.description.strip() and agent.prompt.strip() for agent in self._load(folder))

    def test_what_is_broken_is_reported_by_name(self, folder: Path) -> None:
        """If this fails: scope.report names the file that can't be read; else its author waits for it in vain."""
        told: list[str] = []
        finish(self.make().load(make_scope(folder, **{**self.scope, "report": told.append})))
        assert [name for name in self.broken if not any(name in text for text in told)] == [], f"reported: {told}"

    def test_loading_twice_gives_the_same(self, folder: Path) -> None:
        """If this fails: sort what comes from a folder; the list of agents is part of the cached prompt."""
        assert self._load(folder) == self._load(folder)

    def _load(self, folder: Path) -> Sequence[AgentDefinition]:
        agents: Sequence[AgentDefinition] = finish(self.make().load(make_scope(folder, **self.scope)))
        return agents
