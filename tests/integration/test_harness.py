"""What authors run whole sessions with: `toolpost.testing.SessionHarness`, and the fixtures of the pytest plugin."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from toolpost import PluginError, PostToolUse, Tool, ToolContext, ToolUse, hookimpl, on, tool
from toolpost.testing import FakeModel, SessionHarness, record


@tool(read_only=True)
async def word_count(path: Path, ctx: ToolContext) -> str:
    """Count the words of a text file."""
    return f"{len((await ctx.files.read_text(ctx.resolve(path))).split())} words"


CALL = ToolUse("toolu_1", "word_count", {"path": "notes.txt"})


def test_a_session_with_ones_own_plugin_takes_five_lines(tmp_path: Path) -> None:
    harness = SessionHarness(tmp_path, FakeModel(CALL, "Two words."), plugins=[word_count])
    (harness.project / "notes.txt").write_text("one two", encoding="utf-8")
    found = harness.run("How many words?")
    assert found.results == {"toolu_1": "2 words"}
    assert [message["role"] for message in found.messages] == ["user", "assistant", "user", "assistant"]
    assert (found.result.text, found.notices) == ("Two words.", [])


def test_two_prompts_are_one_conversation(tmp_path: Path) -> None:
    model = FakeModel("One.", "Two.")
    found = SessionHarness(tmp_path, model).run("first", "second")
    assert [len(request.messages) for request in model.requests] == [1, 3]
    assert found.result.text == "Two."


def test_rules_decide_where_the_test_does_not_allow_everything(tmp_path: Path) -> None:
    rules = {"permissions": {"deny": ["word_count"]}}
    harness = SessionHarness(tmp_path, FakeModel(CALL, "Well."), plugins=[word_count], allow=False, settings=rules)
    assert "2 words" not in harness.run("go").results.get("toolu_1", "")


class WordsAndEars:
    """A plugin of two kinds: it brings a tool and hears of calls."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    @hookimpl
    def tools(self) -> Sequence[Tool[Any]]:
        return (word_count,)

    @on.post_tool_use
    def called(self, event: PostToolUse) -> None:
        self.heard.append(event.tool_name)


def test_a_plugin_of_several_kinds_takes_part_as_all_of_them(tmp_path: Path) -> None:
    plugin = WordsAndEars()
    harness = SessionHarness(tmp_path, FakeModel(CALL, "Done."), plugins=[plugin])
    (harness.project / "notes.txt").write_text("one", encoding="utf-8")
    assert (harness.run("go").results, plugin.heard) == ({"toolu_1": "1 words"}, ["word_count"])


async def test_a_session_can_be_driven_as_a_front_end_does(tmp_path: Path) -> None:
    async with SessionHarness(tmp_path, FakeModel("Hi."), options={"permission_mode": "plan"}).session() as session:
        assert session.permission_mode == "plan"
        assert (await record(session, "hello")).result.text == "Hi."


async def test_the_context_fixture_needs_no_import(toolpost_context: ToolContext) -> None:
    await toolpost_context.files.write_text(toolpost_context.cwd / "a.txt", "one")
    assert (toolpost_context.cwd / "a.txt").read_text(encoding="utf-8") == "one"


def test_the_session_fixture_needs_no_import(toolpost_session: Callable[..., SessionHarness]) -> None:
    assert toolpost_session("Hello.").run("hi").result.text == "Hello."


def test_the_pytest_plugin_costs_a_run_that_does_not_use_it_no_import() -> None:
    script = "import sys, toolpost.testing.pytest_plugin; print(*sorted(m for m in sys.modules if 'toolpost' in m))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = ["toolpost", "toolpost._lazy", "toolpost.testing", "toolpost.testing.pytest_plugin"]
    assert [name for name in done.stdout.split() if not name.startswith("__editable__")] == loaded


def test_without_the_core_the_harness_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metadata, "entry_points", lambda **_: ())
    with pytest.raises(PluginError, match="pip install toolpost-core"):
        SessionHarness(tmp_path, FakeModel("Hi.")).run("hi")
