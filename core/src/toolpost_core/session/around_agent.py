"""The events round a sub-agent's one prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolpost import on
from toolpost._frozen import frozen
from toolpost_core.session.around import Around

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolpost_core.loop.display import Display
    from toolpost_core.loop.state import Ended
    from toolpost_core.loop.stream import Answer
    from toolpost_core.session.child import Child


@frozen()
class AroundAgent(Around):
    """Tells that a sub-agent begins and ends, where a session tells of its prompts."""

    session: Child

    async def begun(self) -> str | None:
        """Tell that it begins; nothing keeps it from that."""
        child = self.session
        child.describe()
        if not child.events.hears("subagent_start"):
            return None
        from toolpost.events.agent import SubagentStart

        value = SubagentStart(agent_id=child.agent.agent_id or "", agent_type=child.agent.agent_type or "")
        outcome = (await child.events.emit(on.subagent_start, value)).outcome
        if outcome is not None and outcome.additional_context:
            child.conversation.opening = (outcome.additional_context,)
        return None

    async def restarted(self) -> Sequence[str]:
        """The session itself did not begin anew."""
        return ()

    async def submitted(self, prompt: str) -> tuple[str | None, list[str]]:
        """No person said this."""
        del prompt
        return None, []

    async def at_stop(self, answer: Answer, active: bool) -> tuple[str | None, str | None]:
        """Ask whether it must go on."""
        child = self.session
        if not child.events.hears("subagent_stop"):
            return None, None
        from toolpost.events.agent import SubagentStop

        value = SubagentStop(
            agent_id=child.agent.agent_id or "",
            agent_type=child.agent.agent_type or "",
            stop_hook_active=active,
            agent_transcript_path=child.transcript_path,
            last_assistant_message=answer.text,
            background_tasks=self.running_tasks(),
        )
        outcome = (await child.events.emit(on.subagent_stop, value)).outcome
        return self.kept_going(outcome, "A SubagentStop hook wants the work to go on.")

    async def ended(self, ended: Ended) -> None:
        """The parent reads of its error."""
        del ended

    def display(self, turn_id: str) -> Display | None:
        """Its text is shown as it is: what a person reads is what the parent says."""
        del turn_id
        return None
