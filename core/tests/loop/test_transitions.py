from __future__ import annotations

from collections.abc import Sequence

import pytest

from toolpost import ModelInfo, ModelRequest, Stop, ToolUse
from toolpost.testing import FakeModel
from toolpost_core.loop.budget import Budget
from toolpost_core.loop.delivery import Keep
from toolpost_core.loop.exchange import Exchange
from toolpost_core.loop.queue import MessageQueue
from toolpost_core.loop.state import Ended, State, StopReason, Transition
from toolpost_core.loop.stream import Answer
from toolpost_core.loop.turn import Tell, TurnLoop
from toolpost_core.tools.abort import AbortNode
from toolpost_core.tools.calls import CallResult
from toolpost_core.tools.results import ResultStore


async def play(model: FakeModel, blocks: int, queue: MessageQueue | None = None) -> tuple[list[State], Ended]:
    """Run a loop of its own; the model's ends are blocked so many times. Return the state before each request."""
    states: list[State] = []
    left = iter([("more", None)] * blocks)

    async def prepare(state: State, tell: Tell) -> tuple[State, ModelRequest]:
        states.append(state)
        return state, ModelRequest(model="m", messages=state.messages)

    async def run_call(call: ToolUse, node: AbortNode) -> CallResult:
        return CallResult(call, {"type": "tool_result", "tool_use_id": call.id, "content": "out"})

    async def at_stop(answer: Answer, active: bool) -> tuple[str | None, str | None]:
        return next(left, (None, None))

    async def nothing(*_: object) -> None:
        return None

    async def no_texts(*_: object) -> tuple[Sequence[str], str | None]:
        return (), None

    waiting = queue or MessageQueue(lambda notice: None, waits=False)

    async def incoming(state: State, tell: Tell) -> State:
        return tell(state, [queued.text for queued in iter(waiting.take_next, None)])

    exchange = Exchange(
        provider=lambda: model,
        model=lambda: ModelInfo(id="m"),
        run_call=run_call,
        is_safe=lambda call: True,
        aborts_siblings=lambda name: False,
        apply=lambda result: None,
        after_answer=nothing,
        emit=lambda event: None,
        keep=Keep(
            block=lambda block, answer: "",
            result=lambda result: "",
            message=lambda message: "",
            replaced=lambda block: None,
            block_replaced=lambda old, new: None,
            dropped=lambda records: None,
            without_thoughts=lambda: None,
        ),
        budget=Budget(),
        results=ResultStore(None),
        abort=AbortNode(),
    )
    loop = TurnLoop(
        exchange=exchange,
        prepare=prepare,
        at_stop=at_stop,
        after_calls=no_texts,
        incoming=incoming,
        shorten=nothing,
        fall_back=lambda: None,
        chance=lambda: 0.5,
        queue=waiting,
        budget=Budget(),
        abort=AbortNode(),
    )
    ended = await loop.run(State(({"role": "user", "content": "go"},)))
    return states, ended


async def test_what_came_up_meanwhile_goes_with_the_results_of_calls() -> None:
    queue = MessageQueue(lambda notice: None, waits=False)
    queue.put("a task ended")
    model = FakeModel(["Searching", Stop("pause_turn")], ToolUse("t1", "x", {}), "Done.")
    states, _ = await play(model, 0, queue)

    assert [len(state.messages) for state in states] == [1, 2, 3]  # the answer that paused is sent back as it was
    assert [block["type"] for block in states[2].messages[-1]["content"]] == ["tool_result", "text"]  # type: ignore[index]


@pytest.mark.requirement("loop.named_transitions")
async def test_each_request_but_the_first_has_a_named_reason_to_be() -> None:
    model = FakeModel(ToolUse("t1", "x", {}), "Done.", ["Searching", Stop("pause_turn")], "Done.")
    states, ended = await play(model, blocks=1)

    assert [state.transition for state in states] == [
        None,
        Transition.NEXT_TURN,
        Transition.STOP_HOOK_BLOCKING,
        Transition.NEXT_TURN,
    ]
    assert [state.turn for state in states] == [1, 2, 3, 4]
    assert ended.reason is StopReason.COMPLETED


@pytest.mark.requirement("loop.named_transitions")
@pytest.mark.requirement("loop.stop_hook_bound")
async def test_the_ends_of_a_model_are_blocked_at_most_eight_times_in_a_row() -> None:
    states, ended = await play(FakeModel(*["Done."] * 20), blocks=20)

    assert [state.stop_blocks for state in states] == list(range(9))
    assert (ended.reason, ended.told != "") == (StopReason.COMPLETED, True)
