"""Control requests in the shapes that programs know (compat.md section 4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from toolpost import FileRewind, Rewound, SessionError
from toolpost.testing import FakeSession
from toolpost_frontend_headless.control import answer
from toolpost_frontend_headless.incoming import Control

CHANGED = FileRewind(path=Path("/p/a"), change="changed", added=3, removed=1)
BY_HAND = FileRewind(path=Path("/p/b"), change="created", added=0, removed=9, by_hand="it was changed by hand")
BIG = FileRewind(path=Path("/p/big"), change="changed", problem="it was over 64 MB")


@dataclass
class Door(FakeSession):
    """A session whose files can go back."""

    files: Sequence[FileRewind] = (CHANGED, BIG)

    async def plan_rewind(self, message_id: str) -> Sequence[FileRewind]:
        if message_id == "unknown":
            raise SessionError("This session has no prompt 'unknown'.")
        return self.files

    async def rewind_files(self, message_id: str, *, force: bool = False) -> Rewound:
        if not force and any(file.by_hand for file in self.files):
            raise SessionError("changes made by hand: /p/b")
        self.rewound.append(message_id)
        return Rewound(
            id="undo",
            files=[file for file in self.files if not file.problem],
            left=[file for file in self.files if file.problem],
        )


async def asked(door: Door, **request: Any) -> dict[str, Any]:
    control = Control("r1", "rewind_files", {"subtype": "rewind_files", **request})
    response: dict[str, Any] = (await answer(control, door)).data["response"]
    assert response["request_id"] == "r1"
    return response


async def test_a_dry_run_tells_and_changes_nothing() -> None:
    door = Door()
    response = await asked(door, user_message_id="p1", dry_run=True)

    assert response["response"] == {"canRewind": True, "filesChanged": ["/p/a"], "insertions": 3, "deletions": 1}
    assert door.rewound == []


async def test_a_rewind_tells_what_it_left() -> None:
    door = Door()
    told = (await asked(door, user_message_id="p1"))["response"]

    assert (told["canRewind"], told["filesChanged"]) == (True, ["/p/a"])
    assert told["error"] == "Left: /p/big: it was over 64 MB"
    assert door.rewound == ["p1"]


async def test_changes_by_hand_are_in_the_way_unless_forced() -> None:
    door = Door(files=(CHANGED, BY_HAND))
    dry = (await asked(door, user_message_id="p1", dry_run=True))["response"]
    assert (dry["canRewind"], dry["error"]) == (False, "Changed by hand: /p/b: it was changed by hand")
    assert (await asked(door, user_message_id="p1"))["response"]["canRewind"] is False
    assert (await asked(door, user_message_id="p1", force=True))["response"]["canRewind"] is True


async def test_an_unknown_message_cant_be_gone_back_to() -> None:
    told = (await asked(Door(), user_message_id="unknown"))["response"]

    assert (told["canRewind"], "no prompt 'unknown'" in told["error"]) == (False, True)


@pytest.mark.parametrize("request_", [{}, {"user_message_id": ""}, {"user_message_id": 7}])
async def test_a_request_without_a_message_is_an_error(request_: dict[str, Any]) -> None:
    response = await asked(Door(), **request_)

    assert response["subtype"] == "error"
    assert "user_message_id" in response["error"]


async def about_queue(door: FakeSession, subtype: str, **request: Any) -> dict[str, Any]:
    response: dict[str, Any] = (await answer(Control("r1", subtype, {"subtype": subtype, **request}), door)).data[
        "response"
    ]
    return response


@pytest.mark.parametrize(("tokens", "thinking"), [(4_000, 4_000), (0, "disabled"), (None, None)])
async def test_a_budget_for_thinking_is_taken_over(tokens: int | None, thinking: Any) -> None:
    door = Door()
    request = {"subtype": "set_max_thinking_tokens", "max_thinking_tokens": tokens}
    response = (await answer(Control("r1", "set_max_thinking_tokens", request), door)).data["response"]

    assert (response["subtype"], response["response"]) == ("success", {})
    assert door.thinking == [thinking]


@pytest.mark.parametrize("tokens", [-1, "many", True, 1.5])
async def test_a_budget_that_is_no_number_of_tokens_is_an_error(tokens: Any) -> None:
    door = Door()
    request = {"subtype": "set_max_thinking_tokens", "max_thinking_tokens": tokens}
    response = (await answer(Control("r1", "set_max_thinking_tokens", request), door)).data["response"]

    assert (response["subtype"], door.thinking) == ("error", [])
    assert "max_thinking_tokens" in response["error"]


async def test_an_interrupt_tells_which_prompts_wait_and_may_take_them_back() -> None:
    door = FakeSession()
    door.enqueue("one", message_id="p1")
    door.enqueue("two", message_id="p2")

    assert (await about_queue(door, "interrupt"))["response"] == {"still_queued": ["p1", "p2"]}
    taken = (await about_queue(door, "interrupt", cancel_queued=True))["response"]
    assert taken == {"still_queued": [], "cancelled": ["p1", "p2"]}
    assert (door.queued(), door.interrupts) == ((), ["user_cancel"] * 2)


async def test_one_prompt_is_taken_back_while_it_waits() -> None:
    door = FakeSession()
    door.enqueue("one", message_id="p1")

    assert (await about_queue(door, "cancel_async_message", message_uuid="p1"))["response"] == {"cancelled": True}
    assert (await about_queue(door, "cancel_async_message", message_uuid="p1"))["response"] == {"cancelled": False}
    assert "message_uuid" in (await about_queue(door, "cancel_async_message"))["error"]
