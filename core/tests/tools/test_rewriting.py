"""An input that a permission resolver replaces, and one that is changed under a tool that asks within its call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from fake_session import fake_session, listen, run, texts
from fake_tools import HI, Acts, Echo, call

from toolpost import Allow, Ask, Decision, Deny, PermissionRequest, PermissionResolver, Reply, ToolContext, ToolUse, on
from toolpost.events.permission import PermissionRequestOutcome
from toolpost.testing import FakeModel


class Judge(PermissionResolver):
    """Answers as a test says, from the text that would be said."""

    says: Callable[[str], Decision | None]

    async def resolve(self, request: PermissionRequest) -> Decision | None:
        return self.says(str(request.tool_input.get("text", "")))


def rewriting(new: Mapping[str, Any]) -> Judge:
    return Judge(says=lambda text: Allow(updated_input=new))


@pytest.mark.requirement("permissions.rewritten_input_is_checked_again")
@pytest.mark.parametrize(
    ("new", "ran", "says"),
    [({"text": "ho"}, ["ho"], "ho"), ({"txet": 1}, [], "no longer fits"), ({"text": "forbidden"}, [], "must not be")],
)
async def test_an_input_that_a_resolver_replaced_runs_in_the_place_of_the_first_one(
    tmp_path: Path, new: Mapping[str, Any], ran: list[str], says: str
) -> None:
    done = await call(tmp_path, rewriting(new), allow=False)

    assert done.ran == ran
    assert says in done.text


@pytest.mark.requirement("permissions.rewritten_input_is_checked_again")
@pytest.mark.parametrize("bad", ["hi", "ho"])
async def test_a_deny_of_the_input_before_or_after_a_resolver_replaced_it_stands(tmp_path: Path, bad: str) -> None:
    denies = Judge(says=lambda text: Deny("no") if text == bad else None)
    done = await call(tmp_path, rewriting({"text": "ho"}), denies, allow=False)

    assert (done.ran, done.text) == ([], "Permission denied: no")


async def test_resolvers_that_rewrite_without_end_are_refused(tmp_path: Path) -> None:
    grows = Judge(says=lambda text: Allow(updated_input={"text": f"{text}!"}))
    done = await call(tmp_path, grows, allow=False)

    assert done.ran == []
    assert "rewritten again" in done.text


@pytest.mark.parametrize("who", ["person", "listener", "resolver"])
async def test_an_allow_of_another_input_does_not_let_a_tool_do_what_it_asked_about(tmp_path: Path, who: str) -> None:
    other = {"text": "harmless"}

    async def act(ctx: ToolContext) -> str:
        return type(await ctx.permissions.check("Echo", HI)).__name__

    def nested(text: str) -> Decision | None:
        if not text or text == "harmless":
            return Allow()
        return Allow(updated_input=other) if who == "resolver" else Ask("sure?")

    async def ask(question: Any) -> Reply:
        return Reply(allow=True, updated_input=other if who == "person" else None)

    hears = listen(
        on.permission_request,
        lambda event: PermissionRequestOutcome(decision="allow", updated_input=other) if who == "listener" else None,
    )
    model = FakeModel(ToolUse("t", "Acts", {"text": ""}), "Done.")
    tools = Acts(act=act), Echo(ran=[]), Judge(says=nested)
    async with fake_session(tmp_path, model, *tools, hears, ask=ask, allow=False) as session:
        assert texts(await run(session))["t"] == "Deny"


async def test_a_refusal_with_stop_of_what_a_tool_asks_within_its_call_ends_the_turn(tmp_path: Path) -> None:
    async def act(ctx: ToolContext) -> str:
        return (await ctx.permissions.check("Echo", HI)).reason

    async def ask(question: Any) -> Reply:
        return Reply(allow=False, stop=True)

    model = FakeModel(ToolUse("t", "Acts", {"text": ""}), "Never asked for.")
    judge = Judge(says=lambda text: Ask("sure?") if text else Allow())
    async with fake_session(tmp_path, model, Acts(act=act), Echo(ran=[]), judge, ask=ask, allow=False) as session:
        events = await run(session)

    assert events[-1].terminal_reason == "aborted_tools"  # type: ignore[union-attr]
    assert len(model.requests) == 1
