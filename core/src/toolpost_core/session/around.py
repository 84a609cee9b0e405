"""The events round one prompt: what listeners are told, and what their answers come to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from toolpost import on
from toolpost._frozen import frozen
from toolpost_core.loop.gauge import gauge_of
from toolpost_core.loop.turn import STOP_BLOCKS
from toolpost_core.session.totals import keep
from toolpost_core.session.usage import json_usage
from toolpost_core.transcripts.kinds import USAGE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from toolpost import BlockOutcome, ModelRequest
    from toolpost.events.turn import MessageDisplay
    from toolpost_core.loop.display import Display
    from toolpost_core.loop.state import Ended
    from toolpost_core.loop.stream import Answer
    from toolpost_core.session.inner import Inner
    from toolpost_core.tools.calls import CallResult

_KINDS_TOLD: Final = {"invalid_block": "invalid_request", "invalid_image": "invalid_request"}
"""Kinds of errors by the names that hooks match on."""
_TASKS_TOLD: Final = {"local_bash": "shell", "local_agent": "subagent"}
"""Kinds of background work by the names that hooks know."""
MOST_BLOCKS: Final = ("TOOLPOST_STOP_HOOK_BLOCK_CAP", "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP")
"""Variables that say how often in a row Stop listeners keep the model going."""
DESCRIBED: Final = 1_000
"""Characters of a background task's description that hooks get."""
LONGEST_TITLE: Final = 200
"""Characters of a session's title."""


@frozen()
class Around:
    """Tells listeners of a session; where nobody listens nothing is made or imported."""

    session: Inner

    async def begun(self) -> str | None:
        """Tell that the session begins; returns why the prompt is not sent, if a listener ends the turn."""
        told = await self._setup()
        texts, stop = await self._session_start(self.session.begun)
        self.session.conversation.opening = (*told, *texts)
        return stop

    async def restarted(self) -> Sequence[str]:
        """Tell that the conversation goes on from a summary; returns texts for the model."""
        return (await self._session_start("compact"))[0]

    async def submitted(self, prompt: str) -> tuple[str | None, list[str]]:
        """Ask UserPromptSubmit listeners; returns why the prompt is blocked, if it is, and text to go with it."""
        session = self.session
        if not session.events.hears("user_prompt_submit"):
            return None, []
        from toolpost.events.turn import UserPromptSubmit

        value = UserPromptSubmit(prompt=prompt, session_title=session.title)
        emission = await session.events.emit(on.user_prompt_submit, value)
        outcome = emission.outcome
        if emission.failure is not None:
            return f"The prompt was not sent because {emission.failure}.", []
        if outcome is None:
            return None, []
        if outcome.session_title:
            session.title = _title(outcome.session_title)
        if outcome.block or outcome.stop:
            reason = outcome.reason or outcome.stop_reason or "A hook blocked the prompt."
            # It is in no conversation, so that this is the only place where the person finds it again.
            return reason if outcome.suppress_original_prompt else f"{reason}\n\nThe prompt was: {prompt}", []
        return None, [outcome.additional_context] if outcome.additional_context else []

    async def answered(self, request: ModelRequest, answer: Answer, duration: float) -> None:
        """Keep what an answer used, and tell that it came."""
        session = self.session
        gauge_of(session.stash).answered(answer.usage.prompt_tokens)
        if answer.id:
            session.transcript.side(USAGE, messageId=answer.id, model=session.model.id, usage=json_usage(answer.usage))
        session.account.answered()
        keep(session)
        if not session.events.hears("after_model"):
            return
        from toolpost.events.turn import AfterModel

        value = AfterModel(request=request, message=answer.message, usage=answer.usage, duration=duration)
        await session.events.emit(on.after_model, value)

    async def called(self, results: Sequence[CallResult]) -> tuple[Sequence[str], str | None]:
        """Tell that all calls of an answer have results; returns texts for the model, and why the turn ends if it does."""
        events = self.session.events
        if not events.hears("post_tool_batch"):
            return (), None
        from toolpost.events.tool import PostToolBatch

        outcome = (await events.emit(on.post_tool_batch, PostToolBatch(tool_calls=[_call(r) for r in results]))).outcome
        if outcome is None:
            return (), None
        texts = (outcome.additional_context,) if outcome.additional_context else ()
        if outcome.block or outcome.stop:
            return texts, outcome.reason or outcome.stop_reason or "A PostToolBatch hook ended the turn."
        return texts, None

    async def at_stop(self, answer: Answer, active: bool) -> tuple[str | None, str | None]:
        """Ask whether the model must go on; returns the text that it then reads, and why the turn ends all the same."""
        session = self.session
        if not session.events.hears("stop"):
            return None, None
        from toolpost.events.turn import StopEvent

        value = StopEvent(
            stop_hook_active=active, last_assistant_message=answer.text, background_tasks=self.running_tasks()
        )
        return self.kept_going(
            (await session.events.emit(on.stop, value)).outcome, "A Stop hook wants the work to go on."
        )

    def kept_going(self, outcome: BlockOutcome | None, otherwise: str) -> tuple[str | None, str | None]:
        """Return what listeners at an end want, as `at_stop` does; one that blocks and gives no reason has `otherwise`."""
        if outcome is None:
            return None, None
        if outcome.stop:
            return None, outcome.stop_reason or "a hook ended the session's turn"
        if outcome.block:
            return outcome.reason or otherwise, None
        return outcome.additional_context or None, None

    async def ended(self, ended: Ended) -> None:
        """Tell of a turn that ended in an error."""
        session = self.session
        if ended.error is None or not session.events.hears("stop_failure"):
            return
        from toolpost.events.turn import StopFailure

        kind = _KINDS_TOLD.get(ended.error.kind, ended.error.kind)
        value = StopFailure(error=kind, error_details=str(ended.error), last_assistant_message=ended.text)
        await session.events.emit(on.stop_failure, value)

    def display(self, turn_id: str) -> Display | None:
        """Return what puts the model's text to listeners before it is shown; None where nobody listens."""
        events = self.session.events
        if not events.hears("message_display"):
            return None
        from toolpost_core.loop.display import Display

        async def ask(value: MessageDisplay) -> str:
            outcome = (await events.emit(on.message_display, value)).outcome
            shown = outcome.display_content if outcome is not None else None
            return value.delta if shown is None else shown

        return Display(ask, turn_id)

    def running_tasks(self) -> list[dict[str, Any]]:
        """Return what goes on in the background, as hooks are told of it."""
        from toolpost.services import Tasks

        tasks = self.session.services.made(Tasks)
        running = [task for task in tasks.list() if task.status == "running"] if tasks is not None else []
        return [
            {
                "id": task.task_id,
                "type": _TASKS_TOLD.get(task.kind, task.kind),
                "status": task.status,
                "description": task.description[:DESCRIBED],
                **({"command": task.command} if task.command else {}),
            }
            for task in running
        ]

    async def _setup(self) -> tuple[str, ...]:
        session, trigger = self.session, self.session.parts.options.extra.get("setup")
        if trigger is None or not session.events.hears("setup"):
            return ()
        from toolpost.events.session import Setup

        outcome = (await session.events.emit(on.setup, Setup(trigger=trigger))).outcome
        return (outcome.additional_context,) if outcome is not None and outcome.additional_context else ()

    async def _session_start(self, source: Any) -> tuple[Sequence[str], str | None]:
        session = self.session
        if not session.events.hears("session_start"):
            return (), None
        from toolpost.events.session import SessionStart

        value = SessionStart(source=source, model=session.model_in_use.name, session_title=session.title)
        outcome = (await session.events.emit(on.session_start, value)).outcome
        if outcome is None:
            return (), None
        if outcome.session_title:
            session.title = _title(outcome.session_title)
        if outcome.watch_paths:
            session.watch(outcome.watch_paths)
        texts = [text for text in (outcome.additional_context, outcome.initial_user_message) if text]
        return texts, (outcome.stop_reason or "A SessionStart hook ended the turn.") if outcome.stop else None


def most_blocks(env: Mapping[str, str]) -> int:
    """Return how often in a row Stop listeners keep the model going."""
    given = next((text for name in MOST_BLOCKS if (text := env.get(name, "").strip())), "")
    return int(given) if given.isdecimal() and int(given) else STOP_BLOCKS


def odd_blocks(env: Mapping[str, str]) -> list[str]:
    """Say which variables hold what is no number of blocks; the usual number counts then."""
    wrong = [(name, text) for name in MOST_BLOCKS if (text := env.get(name, "").strip())]
    return [
        f"{name} is {text!r}, which is no number over 0. It is left out."
        for name, text in wrong
        if not (text.isdecimal() and int(text))
    ]


def _title(text: str) -> str:
    """Return one line of letters that a list can show."""
    return "".join(letter for letter in " ".join(text.split()) if letter.isprintable())[:LONGEST_TITLE]


def _call(result: CallResult) -> dict[str, Any]:
    call = result.call
    response = result.block.get("content") if result.data is None else result.data
    return {"tool_name": call.name, "tool_input": result.told_input, "tool_use_id": call.id, "tool_response": response}
