"""A call that a hook put off: it waits with the session, and runs as soon as that is taken up."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from toolpost import ToolUse
from toolpost_core.loop.messages import blocks_of
from toolpost_core.loop.state import Ended, State, StopReason
from toolpost_core.transcripts.kinds import DEFERRED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from toolpost import Message
    from toolpost_core.loop.turn import TurnLoop
    from toolpost_core.session.inner import Inner
    from toolpost_core.transcripts.history import History


def can_defer(session: Inner) -> bool:
    """Whether a call can wait: nobody is there who could decide on it, and another run can take the session up."""
    return session.parts.ask is None and session.transcript.path is not None and session.surroundings.whose.depth == 0


def waiting_in(history: History) -> ToolUse | None:
    """Return the call that waits in a session that is taken up."""
    name = history.states.get(DEFERRED, {}).get("toolUseId")
    call = _last_call(history.messages)
    return call if call is not None and call.id == name else None


def put_off(session: Inner, call: ToolUse) -> str:
    """Keep a call for whoever takes up the session; return what the person is told."""
    session.conversation.deferred = call
    session.transcript.state(DEFERRED, toolUseId=call.id)
    return f"A hook put the call of {call.name} off, and it waits: toolpost --resume {session.id} takes it up."


async def taken_up(session: Inner, loop: TurnLoop) -> State | Ended:
    """Return the state to go on with, once the call that waits has its result; without one, the conversation's."""
    conversation, before = session.conversation, session.conversation.state()
    call, conversation.due = conversation.deferred, False
    if call is None:
        return before
    if _last_call(before.messages) != call:  # the person went back, or the conversation was compacted
        _forget(session)
        return before
    if session.engine().pool.find(call.name) is None:
        told = (
            f"The call that waits is one of {call.name}, and no such tool is there any more. Enable the plugin that brings "
            "it, or go on in a new session."
        )
        return Ended(before, StopReason.TOOL_DEFERRED_UNAVAILABLE, stop_reason="tool_deferred_unavailable", told=told)
    _forget(session)
    return await loop.take_up(replace(before, messages=before.messages[:-1]), call)


def as_json(call: ToolUse) -> Mapping[str, Any]:
    """Return a call as results of runs name it."""
    return {"id": call.id, "name": call.name, "input": call.input}


def _forget(session: Inner) -> None:
    """Before it runs: one that a crash cuts short may have had effects, and is not run again."""
    session.conversation.deferred = None
    session.transcript.state(DEFERRED, toolUseId=None)


def _last_call(messages: Sequence[Message]) -> ToolUse | None:
    """Return the only call of the last answer, where nothing but its stand-in for a result follows."""
    if len(messages) < 2:
        return None
    calls = [block for block in blocks_of(messages[-2]) if block["type"] == "tool_use"]
    if len(calls) != 1 or [block["type"] for block in blocks_of(messages[-1])] != ["tool_result"]:
        return None
    call = cast("Mapping[str, Any]", calls[0])
    return ToolUse(call["id"], call["name"], call["input"])
