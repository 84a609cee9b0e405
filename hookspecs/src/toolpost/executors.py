"""Agent executors: where a sub-agent runs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, ClassVar

from toolpost._hooks import hookimpl
from toolpost._plugin import Plugin

if TYPE_CHECKING:
    from toolpost.services import AgentRequest, AgentResult
    from toolpost.session import SessionScope


class AgentExecutor(Plugin, ABC):
    """Runs sub-agents in one kind of place."""

    isolation: ClassVar[str]
    """The `isolation` of a request that this executor serves: none, worktree, remote or a name of its own."""

    @abstractmethod
    async def run(
        self,
        request: AgentRequest,
        scope: SessionScope,
        run_here: Callable[[AgentRequest, SessionScope], Awaitable[AgentResult]],
    ) -> AgentResult:
        """Run one to its end. `run_here` runs it in this process, in the scope it is given; cancelling aborts it."""

    @hookimpl(specname="executors")
    def _executors(self) -> Sequence[AgentExecutor]:
        return (self,)
