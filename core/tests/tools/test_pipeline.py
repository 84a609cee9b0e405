"""The steps of one call before it runs: tool, schema, the tool's own check, hooks."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest
from fake_session import fake_session, listen, result_of, run, texts
from fake_tools import Acts, DeniesText, Echo, EchoInput, call, pre

from toolpost import (
    Decision,
    PermissionScope,
    Progress,
    Reply,
    Tool,
    ToolContext,
    ToolResult,
    ToolUse,
    on,
)
from toolpost.events.tool import PreToolUse
from toolpost.testing import FakeModel


@dataclass(frozen=True)
class NoInput:
    pass


class Order(Tool[NoInput]):
    """Writes down each step that it takes part in."""

    name = "Order"
    input_model = NoInput
    steps: list[str]

    async def validate_input(self, input: NoInput, ctx: ToolContext) -> str | None:
        self.steps.append("validate")
        return None

    def backfill_observable_input(self, input: Mapping[str, Any], ctx: ToolContext) -> Mapping[str, Any]:
        self.steps.append("backfill")
        return input

    async def check_permissions(self, input: NoInput, scope: PermissionScope) -> Decision | None:
        self.steps.append("permission")
        return None

    async def call(self, input: NoInput, ctx: ToolContext, progress: Progress) -> ToolResult:
        self.steps.append("call")
        return ToolResult("x")

    def to_result_block(self, data: Any, tool_use_id: str) -> Any:
        self.steps.append("map")
        return super().to_result_block(data, tool_use_id)


@pytest.mark.requirement("pipeline.steps_in_order")
async def test_a_call_takes_its_steps_in_order(tmp_path: Path) -> None:
    order = Order(steps=[])
    await call(
        tmp_path,
        order,
        listen(on.pre_tool_use, lambda event: order.steps.append("pre")),
        listen(on.post_tool_use, lambda event: order.steps.append("post")),
        tool="Order",
        input={},
    )
    steps = [step for step in order.steps if step != "map"]

    assert steps == ["validate", "backfill", "pre", "permission", "call", "post"]


# Step 1 to 4: tool, abort, schema, the tool's own check.


@pytest.mark.requirement("pipeline.unknown_tool")
async def test_an_unknown_tool_gets_an_error_that_names_the_tools_there_are(tmp_path: Path) -> None:
    done = await call(tmp_path, tool="Teleport")

    assert done.finished.is_error
    assert "No such tool: 'Teleport'" in done.text
    assert "Echo" in done.text


@pytest.mark.requirement("pipeline.alias")
async def test_a_tool_is_found_by_its_alias(tmp_path: Path) -> None:
    assert (await call(tmp_path, tool="Say")).text == "hi"


@pytest.mark.requirement("pipeline.schema_error_mends")
@pytest.mark.parametrize(
    ("input", "names"),
    [({}, "text"), ({"text": 3}, "text"), ({"text": "a", "cuont": 2}, "cuont"), ({"text": "a", "count": "x"}, "count")],
)
async def test_an_input_of_the_wrong_shape_runs_nothing_and_names_the_parameter(
    tmp_path: Path, input: Mapping[str, Any], names: str
) -> None:
    done = await call(tmp_path, input=input)

    assert done.finished.is_error
    assert f"`{names}`" in done.text
    assert done.ran == []


@pytest.mark.requirement("pipeline.deferred_names_tool_search")
async def test_a_wrong_input_for_a_tool_whose_schema_was_not_sent_names_the_search_for_it(tmp_path: Path) -> None:
    class Deferred(Acts):
        name = "Deferred"
        should_defer = True

    done = await call(tmp_path, Deferred(act=lambda ctx: "ran"), tool="Deferred", input={"wrong": 1})
    sent = await call(tmp_path, input={"wrong": 1})

    assert "ToolSearch" in done.text
    assert "ToolSearch" not in sent.text


async def test_input_that_is_no_json_object_is_shown_to_the_model(tmp_path: Path) -> None:
    done = await call(tmp_path, input={}, raw='{"text": "unfinis')

    assert done.finished.is_error
    assert '{"text": "unfinis' in done.text
    assert done.ran == []


async def test_a_huge_input_that_is_no_json_object_is_not_sent_back_whole(tmp_path: Path) -> None:
    done = await call(tmp_path, input={}, raw="x" * 1_000_000)

    assert len(done.text) < 10_000


@pytest.mark.requirement("pipeline.validate_input")
async def test_what_the_tool_refuses_is_not_run_and_the_model_reads_why(tmp_path: Path) -> None:
    done = await call(tmp_path, input={"text": "forbidden"})

    assert (done.finished.is_error, done.ran) == (True, [])
    assert "must not be 'forbidden'" in done.text


# Step 6 and 7: what hooks see, and what they answer.


@pytest.mark.requirement("pipeline.refusals_told_apart")
async def test_each_way_of_refusing_reads_differently(tmp_path: Path) -> None:
    def broken(event: PreToolUse) -> None:
        raise RuntimeError("hook bug")

    async def hangs(event: PreToolUse) -> None:
        await asyncio.Event().wait()

    async def refuses(question: Any) -> Reply:
        return Reply(allow=False, feedback="use another")

    hook = (await call(tmp_path, pre("deny", reason="no echoes"))).text
    failure = (await call(tmp_path, listen(on.pre_tool_use, broken))).text
    timed_out = (await call(tmp_path, listen(on.pre_tool_use, hangs, timeout=0.01))).text
    user = (await call(tmp_path, allow=False, ask=refuses)).text
    nobody = (await call(tmp_path, allow=False)).text

    assert hook.startswith("A hook denied this call: no echoes")
    assert "failed: RuntimeError: hook bug" in failure
    assert "not a decision of the user" in failure
    assert "timed out after 0.01 s" in timed_out
    assert "not a decision of the user" in timed_out
    assert user.startswith("The user refused this call. They said: use another")
    assert "nobody to ask" in nobody
    assert "The user" not in hook + failure.replace("of the user", "") + nobody


@pytest.mark.requirement("pipeline.every_gate_answers_first")
async def test_a_call_that_a_hook_denies_does_not_run(tmp_path: Path) -> None:
    assert (await call(tmp_path, pre("allow"), pre("deny"))).ran == []


async def test_a_hooks_allow_grants_what_nobody_else_has_an_opinion_on(tmp_path: Path) -> None:
    assert (await call(tmp_path, pre("allow"), allow=False)).ran == ["hi"]


@pytest.mark.requirement("permissions.rewritten_input_is_checked_again")
async def test_the_input_that_a_hook_put_in_its_place_is_what_runs(tmp_path: Path) -> None:
    done = await call(tmp_path, pre(updated_input={"text": "ho"}))

    assert (done.ran, done.text) == (["ho"], "ho")


@pytest.mark.requirement("permissions.rewritten_input_is_checked_again")
@pytest.mark.parametrize(
    ("rewritten", "says"), [({"txet": "a"}, "no longer fits"), ({"text": "forbidden"}, "must not be 'forbidden'")]
)
async def test_a_rewritten_input_passes_the_schema_and_the_tools_own_check(
    tmp_path: Path, rewritten: Mapping[str, Any], says: str
) -> None:
    done = await call(tmp_path, pre(updated_input=rewritten))

    assert (done.finished.is_error, done.ran) == (True, [])
    assert says in done.text


@pytest.mark.requirement("permissions.rewritten_input_is_checked_again")
@pytest.mark.parametrize(("asked", "rewritten"), [("secret", "hi"), ("hi", "secret")])
async def test_neither_the_input_before_a_rewrite_nor_the_one_after_may_be_denied(
    tmp_path: Path, asked: str, rewritten: str
) -> None:
    tool = DeniesText(ran=[])
    model = FakeModel(ToolUse("toolu_1", "Echo", {"text": asked}), "Done.")
    async with fake_session(tmp_path, model, tool, pre("allow", updated_input={"text": rewritten})) as session:
        events = await run(session)

    assert tool.ran == []
    assert "off limits" in texts(events)["toolu_1"]


class Fills(Echo):
    """As Echo; shows hooks an input with more in it."""

    def backfill_observable_input(self, input: Mapping[str, Any], ctx: ToolContext) -> Mapping[str, Any]:
        return {**input, "count": 1, "seen": "filled"}


@pytest.mark.requirement("pipeline.backfill_on_a_copy")
async def test_hooks_see_the_backfilled_input_and_the_tool_and_the_conversation_keep_their_own(tmp_path: Path) -> None:
    seen: list[Mapping[str, Any]] = []
    tool = Fills(ran=[])
    model = FakeModel(ToolUse("toolu_1", "Echo", {"text": "hi"}), "Done.")
    hears = listen(on.pre_tool_use, lambda event: seen.append(event.tool_input))
    async with fake_session(tmp_path, model, tool, hears) as session:
        await run(session)

    assert seen == [{"text": "hi", "count": 1, "seen": "filled"}]
    assert tool.ran == [EchoInput("hi")]
    assert model.requests[1].messages[1]["content"][0]["input"] == {"text": "hi"}  # type: ignore[index, typeddict-item]


async def test_what_a_hook_wants_the_model_to_know_follows_the_result(tmp_path: Path) -> None:
    assert (await call(tmp_path, pre(additional_context="mind the gap"))).text == "hi\n\nmind the gap"


async def test_a_hook_that_ends_the_turn_is_obeyed_after_the_call(tmp_path: Path) -> None:
    done = await call(tmp_path, pre(stop=True, stop_reason="enough for today"))
    result = result_of(done.events)

    assert result.terminal_reason == "hook_stopped"
    assert "enough for today" in done.notices


class SchemaOnly(Tool[Any]):
    """Has a JSON Schema and no model."""

    name = "Acts"
    input_schema: ClassVar[Mapping[str, Any]] = {
        "type": "object",
        "properties": {"n": {"type": "integer", "minimum": 1}},
        "required": ["n"],
    }

    async def call(self, input: Any, ctx: ToolContext, progress: Progress) -> ToolResult:
        return ToolResult(str(input["n"]))


@pytest.mark.requirement("pipeline.schema_error_mends")
async def test_a_tool_that_has_only_a_json_schema_is_checked_against_it(tmp_path: Path) -> None:
    assert (await call(tmp_path, SchemaOnly(), tool="Acts", input={"n": 2})).text == "2"
    wrong = await call(tmp_path, SchemaOnly(), tool="Acts", input={"n": 0})
    assert wrong.finished.is_error
    assert "$.n" in wrong.text
