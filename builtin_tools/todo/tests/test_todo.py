from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from toolpost import Checklist, InvalidInput, ToolContext
from toolpost.testing import call_tool, make_context
from toolpost_tool_todo import TODOS, TodoWrite

TODO = TodoWrite()


@pytest.fixture
def ctx(tmp_path: Path) -> ToolContext:
    return make_context(tmp_path)


def todo(content: str, status: str) -> dict[str, Any]:
    return {"content": content, "status": status, "activeForm": f"{content} now"}


async def write(ctx: ToolContext, *todos: Any) -> tuple[Any, str]:
    data = (await call_tool(TODO, {"todos": list(todos)}, ctx)).data
    return data, str(TODO.to_result_block(data, "t")["content"])


async def test_the_list_is_kept_for_the_session_and_the_model_told_to_go_on(ctx: ToolContext) -> None:
    await write(ctx, todo("Build", "in_progress"), todo("Test", "pending"))

    data, text = await write(ctx, todo("Build", "completed"), todo("Test", "in_progress"))

    assert [item["status"] for item in data["oldTodos"]] == ["in_progress", "pending"]
    assert [item.status for item in ctx.stash[TODOS]] == ["completed", "in_progress"]
    assert text.endswith("Go on with the task in progress: Test")


async def test_nobody_is_asked(ctx: ToolContext) -> None:
    given = TODO.shape().parse({"todos": [todo("Build", "pending")]})
    decision = await TODO.check_permissions(given, ctx.scope)
    assert decision is not None
    assert decision.behavior == "allow"


async def test_a_finished_list_is_cleared(ctx: ToolContext) -> None:
    data, text = await write(ctx, todo("Build", "completed"))

    assert ctx.stash[TODOS] == ()
    assert data["newTodos"] == [todo("Build", "completed")]
    assert "All tasks are completed" in text


async def test_a_list_without_a_task_in_progress_names_the_next(ctx: ToolContext) -> None:
    _, text = await write(ctx, todo("Build", "completed"), todo("Test", "pending"))

    assert "set the next task in_progress and do it: Test" in text


async def test_front_ends_get_a_checklist_and_a_spinner_text(ctx: ToolContext) -> None:
    data, _ = await write(ctx, todo("Build", "in_progress"))
    given = TODO.shape().parse({"todos": [todo("Build", "in_progress")]})

    assert TODO.render_result(data) == Checklist((("Build", "in_progress"),))
    assert TODO.activity(given) == "Build now"


@pytest.mark.parametrize("bad", [todo("x", "done"), {"content": "x", "status": "pending"}, todo(" ", "pending"), "x"])
async def test_a_bad_task_is_named_and_the_list_kept(ctx: ToolContext, bad: Any) -> None:
    await write(ctx, todo("Build", "pending"))

    with pytest.raises(InvalidInput, match=r"todos\[1\]|Task 2"):
        await write(ctx, todo("Build", "completed"), bad)

    assert [item.status for item in ctx.stash[TODOS]] == ["pending"]
