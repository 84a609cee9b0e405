"""A sub-agent: a session with a parent."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from toolpost_core.session.added_hooks import HooksOfAgent
from toolpost_core.session.around_agent import AroundAgent
from toolpost_core.session.own_services import OwnServices
from toolpost_core.session.services import ServiceTable
from toolpost_core.session.session import Session
from toolpost_core.session.surroundings import Surroundings, Whose
from toolpost_core.session.totals import Totals
from toolpost_core.transcripts.transcript import Transcript

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from toolpost import AgentRequest, LaunchOptions, SessionEvent, SessionScope
    from toolpost.events._base import Origin
    from toolpost_core.events.dispatch import Dispatcher
    from toolpost_core.session.added_hooks import AddedHooks
    from toolpost_core.session.inner import Inner
    from toolpost_core.tools.abort import AbortNode


class Child(Session):
    """One sub-agent. It begins in the folder of `scope`, with `tools` of its parent's (all where None).

    Its own are conversation, transcript, stash, current folder and what it has read. Budget, permissions, hooks, settings
    and the services of plugins are its parent's, and so is the session's id.
    """

    def __init__(self, parent: Inner, request: AgentRequest, scope: SessionScope, tools: Sequence[str] | None) -> None:
        self._parent = parent
        self._request = request
        self._begins_in = scope.cwd
        self.agent = Whose(
            agent_id=f"a{parent.outside.new_id('agent').replace('-', '')[:16]}",
            agent_type=request.definition.name if request.definition is not None else request.agent_type,
            depth=parent.surroundings.whose.depth + 1,
        )
        super().__init__(
            replace(
                parent.parts,
                session_id=parent.id,
                places=replace(parent.parts.places, project=scope.project),
                options=_options(parent, request, tools),
                budget=parent.parts.budget.child(f"agent: {self.agent.agent_type}"),
                history=None,
                forked_from=None,
            )
        )
        self.hook_log, self.reasoning = parent.hook_log, parent.reasoning

    @property
    def results_dir(self) -> Path | None:
        """Where long results of tools go: where the parent's do, which the person let it read."""
        return self._parent.results_dir

    def around(self) -> AroundAgent:
        """Return what tells listeners of its course."""
        return AroundAgent(self)

    def warn(self, text: str) -> None:
        """Show the person a warning."""
        self._parent.warn(text)

    def did(self, what: str, **given: Any) -> None:
        """What is done with it is done within a call of its parent's."""

    async def refresh(self) -> None:
        """Settings are taken over between the prompts of a person only."""

    def describe(self) -> None:
        """Say in the transcript what it is, and whose."""
        self._transcript.side(
            "agent_metadata",
            agentId=self.agent.agent_id,
            agentType=self.agent.agent_type,
            description=self._request.description,
            parentAgentId=self._parent.surroundings.whose.agent_id,
            parentToolUseId=self._request.tool_use_id or None,
        )

    # What its parts are.

    def _new_abort(self) -> AbortNode:
        return self._parent.abort_in_force.child(contains=True)

    def _tells(self, event: SessionEvent) -> bool:
        """Its events are told by its parent, and asked for there."""
        del event
        return True

    def _new_account(self) -> Totals:
        return Totals(self._parent.account)

    def _new_surroundings(self) -> Surroundings:
        return Surroundings(self.parts, self._parent.surroundings.standing, self.agent, self._begins_in)

    def _new_events(self) -> Dispatcher:
        return self._parent.events.beside(self._origin)

    def _new_added_hooks(self) -> AddedHooks:
        return HooksOfAgent(self._parent.added_hooks, self.agent.agent_id or "")

    def _new_services(self) -> ServiceTable:
        return ServiceTable(self.parts.registry, self.scope, OwnServices(self).find, self._parent.services)

    def _new_transcript(self) -> Transcript:
        path = self._parent._origin().transcript_path
        if path is not None:
            path = path.with_suffix("") / "subagents" / f"agent-{self.agent.agent_id}.jsonl"
        marks = {"isSidechain": True, "agentId": self.agent.agent_id}
        return Transcript(path, self._parent.id, self.parts.version, self.warn, marks=marks, outside=self.outside)

    def _origin(self) -> Origin:
        """Its events come from the session of its person, and hooks keep what they know there."""
        return replace(
            self._parent._origin(),
            cwd=self.cwd,
            agent_id=self.agent.agent_id,
            agent_type=self.agent.agent_type,
        )

    async def _end(self, reason: str) -> None:
        """The session goes on."""
        del reason

    def _close_world(self) -> None:
        """The session goes on in it."""


def _options(parent: Inner, request: AgentRequest, tools: Sequence[str] | None) -> LaunchOptions:
    """Return how the parent was launched, with what the request says otherwise."""
    definition = request.definition
    named = request.model or (definition.model if definition is not None else None)
    changed: dict[str, Any] = {
        "prompt": None,
        "model": parent.model_in_use.name if named in (None, "inherit") else named,
        "tools": None if tools is None else tuple(tools),
        "max_turns": definition.max_turns if definition is not None else None,
        "resume": None,
        "continue_last": False,
        "fork_session": False,
        "json_schema": None,
    }
    if definition is not None:
        # How the person began the session's own prompt is not for an agent that has one.
        changed |= {
            "override_system_prompt": None,
            "coordinator_system_prompt": None,
            "agent_system_prompt": definition.prompt or None,
            "system_prompt": None,
            "append_system_prompt": None,
        }
    return replace(parent.parts.options, **changed)
