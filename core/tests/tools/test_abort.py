from __future__ import annotations

import asyncio
import gc
import weakref
from typing import get_args

import pytest

from toolpost import Aborted, AbortReason
from toolpost_core.tools.abort import AbortNode

REASONS = get_args(AbortReason)


@pytest.mark.requirement("abort.parent_to_children")
@pytest.mark.parametrize("reason", REASONS)
def test_a_parent_aborts_all_below_it_with_its_reason(reason: AbortReason) -> None:
    session = AbortNode()
    siblings = session.child()
    calls = [siblings.child(), siblings.child()]
    session.abort(reason)

    assert [node.reason for node in (siblings, *calls)] == [reason] * 3


@pytest.mark.requirement("abort.parent_to_children")
def test_a_child_of_an_aborted_parent_is_born_aborted() -> None:
    parent = AbortNode()
    parent.abort("user_cancel")

    assert parent.child().reason == "user_cancel"


@pytest.mark.requirement("abort.child_to_parent_only_on_stop")
@pytest.mark.parametrize("reason", REASONS)
def test_only_a_refusal_with_stop_goes_up(reason: AbortReason) -> None:
    run = AbortNode().child(contains=True)
    siblings = run.child()
    first, second = siblings.child(), siblings.child()
    first.abort(reason)

    expected = reason if reason == "rejected" else None
    assert [node.reason for node in (second, siblings, run)] == [expected] * 3


@pytest.mark.requirement("abort.child_to_parent_only_on_stop")
def test_a_refusal_with_stop_ends_the_run_and_not_the_session() -> None:
    session = AbortNode()
    run = session.child(contains=True)
    run.child().child().abort("rejected")

    assert run.reason == "rejected"
    assert session.reason is None
    assert session.child(contains=True).reason is None


def test_the_first_reason_stays() -> None:
    node = AbortNode()
    node.abort("sibling_error")
    node.abort("user_cancel")

    assert node.reason == "sibling_error"


@pytest.mark.requirement("abort.interrupt_spares_blocking_tools")
async def test_a_cancellation_after_an_interrupt_reaches_what_the_interrupt_spared() -> None:
    run = AbortNode()
    call = run.child()
    spared = call.past_interrupts()
    waiting = asyncio.ensure_future(spared.wait())
    run.abort("interrupt")
    await asyncio.sleep(0)

    assert (call.reason, spared.reason, spared.aborted, waiting.done()) == ("interrupt", None, False, False)
    spared.raise_if_aborted()
    run.abort("user_cancel")
    assert await waiting == "user_cancel"
    assert (call.reason, spared.reason) == ("user_cancel", "user_cancel")
    with pytest.raises(Aborted):
        spared.raise_if_aborted()


@pytest.mark.requirement("abort.children_held_weakly")
def test_a_parent_does_not_keep_a_finished_child() -> None:
    parent = AbortNode()
    child = weakref.ref(parent.child())
    gc.collect()

    assert child() is None


async def test_everyone_who_waits_hears_of_the_abort() -> None:
    node = AbortNode()
    child = node.child()
    waiting = [asyncio.ensure_future(n.wait()) for n in (node, child, child)]
    await asyncio.sleep(0)
    node.abort("engine_stop")

    assert await asyncio.gather(*waiting, child.wait()) == ["engine_stop"] * 4


def test_raise_if_aborted_names_the_reason() -> None:
    node = AbortNode()
    node.raise_if_aborted()
    node.abort("discard")

    with pytest.raises(Aborted) as raised:
        node.raise_if_aborted()
    assert raised.value.reason == "discard"
