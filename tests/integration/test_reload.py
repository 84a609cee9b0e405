"""Settings that change while a session runs."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from textwrap import dedent

import pytest
from fake_site import Site, fresh_site
from mock_messages_api import MockMessagesApi, tool_use, turn

from toolpost import LaunchOptions, Notice, SettingsError, ToolFinished
from toolpost_core.api import open_session
from toolpost_core.session.session import Session


@pytest.fixture
def settings(tmp_path: Path) -> Path:
    path = tmp_path / "home" / ".toolpost" / "settings.json"
    path.parent.mkdir(parents=True)
    return path


@asynccontextmanager
async def running(api: MockMessagesApi, home: Path) -> AsyncIterator[Session]:
    project = home.parent / "project"
    project.mkdir()
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "ANTHROPIC_BASE_URL": api.url,
        "ANTHROPIC_API_KEY": "test",
    }
    async with open_session(LaunchOptions(cwd=project), env=env) as session:
        yield session


async def said(session: Session) -> tuple[list[str], list[str]]:
    """Run a prompt; return the warnings and the results of calls."""
    warnings, results = [], []
    async for event in session.submit("go"):
        if isinstance(event, Notice):
            warnings.append(event.text)
        if isinstance(event, ToolFinished):
            results.append(event.text)
    return warnings, results


def tools(api: MockMessagesApi, request: int) -> set[str]:
    return {tool["name"] for tool in api.requests[request].body["tools"]}


async def test_a_plugin_that_is_turned_off_is_gone_from_the_next_request(settings: Path) -> None:
    async with MockMessagesApi(["One.", "Two.", "Three."]) as api, running(api, settings.parents[1]) as session:
        await said(session)
        settings.write_text(json.dumps({"plugins": {"glob": False}}))
        warnings, _ = await said(session)
        settings.unlink()
        await said(session)

    assert warnings == ["Settings changed: tools/glob is off"]
    assert ["Glob" in tools(api, number) for number in range(3)] == [True, False, True]


async def test_a_rule_that_is_added_holds_from_the_next_prompt(settings: Path) -> None:
    call = turn(tool_use("Bash", {"command": "echo hi"}))
    async with MockMessagesApi([call, "One.", call, "Two."]) as api, running(api, settings.parents[1]) as session:
        _, before = await said(session)
        settings.write_text(json.dumps({"permissions": {"deny": ["Bash(echo *)"]}}))
        _, after = await said(session)

    assert before == ["hi"]
    assert "Permission denied" in after[0]


@pytest.mark.parametrize("broken", ['{"permissions": {"deny": [', '{"permissions": {"deny": 7}}'])
async def test_a_file_in_the_middle_of_an_edit_keeps_the_rules_that_it_had(settings: Path, broken: str) -> None:
    settings.write_text(json.dumps({"permissions": {"deny": ["Bash(echo *)"]}}))
    call = turn(tool_use("Bash", {"command": "echo hi"}))
    async with MockMessagesApi([call, "One.", call, "Two."]) as api, running(api, settings.parents[1]) as session:
        await said(session)
        settings.write_text(broken)
        warnings, results = await said(session)

    assert "Permission denied" in results[0]
    assert "stay as they were" in warnings[0]
    assert str(settings) in warnings[0]


async def test_a_hook_may_keep_the_settings_as_they_are(settings: Path) -> None:
    hook = {"hooks": [{"type": "command", "command": "echo not now >&2; exit 2"}]}
    settings.write_text(json.dumps({"hooks": {"ConfigChange": [hook]}}))
    async with MockMessagesApi(["One.", "Two."]) as api, running(api, settings.parents[1]) as session:
        await said(session)
        settings.write_text(json.dumps({"hooks": {"ConfigChange": [hook]}, "plugins": {"glob": False}}))
        warnings, _ = await said(session)

    assert "not now" in warnings[0]
    assert "Glob" in tools(api, 1)


async def test_a_hook_that_runs_once_a_session_has_run_also_after_a_reload(settings: Path) -> None:
    hook = {"type": "command", "command": "echo ran >> ~/hook.log", "once": True}
    hooks = {"UserPromptSubmit": [{"hooks": [hook]}]}
    settings.write_text(json.dumps({"hooks": hooks}))
    async with MockMessagesApi(["One.", "Two."]) as api, running(api, settings.parents[1]) as session:
        await said(session)
        settings.write_text(json.dumps({"hooks": hooks, "plugins": {"glob": False}}))
        await said(session)

    assert (settings.parents[1] / "hook.log").read_text() == "ran\n"


async def test_variables_of_the_settings_reach_commands(settings: Path) -> None:
    settings.write_text(json.dumps({"env": {"GREETING": "hello"}, "permissions": {"allow": ["Bash"]}}))
    call = turn(tool_use("Bash", {"command": "echo $GREETING there"}))
    async with MockMessagesApi([call, "One."]) as api, running(api, settings.parents[1]) as session:
        assert (await said(session))[1] == ["hello there"]


async def test_what_can_not_be_read_is_told_at_once_and_once(settings: Path) -> None:
    async with MockMessagesApi(["One.", "Two."]) as api, running(api, settings.parents[1]) as session:
        await said(session)
        settings.write_text('{"plugins": {')
        with pytest.raises(SettingsError, match="The settings stay as they were: ") as told:
            await session.reload()
        warnings, _ = await said(session)

    assert str(settings) in str(told.value)
    assert warnings == []


async def test_what_can_not_be_read_is_told_once_where_nobody_asked_for_it(settings: Path) -> None:
    async with MockMessagesApi(["One."]) as api, running(api, settings.parents[1]) as session:
        settings.write_text('{"plugins": {')
        warnings, _ = await said(session)

    assert len(warnings) == 1


WORDS = """
    from toolpost import tool

    @tool(read_only=True)
    async def words(path: str) -> str:
        "Count words."
        return "2 words"
"""


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with fresh_site(tmp_path / "site") as site:
        yield site


async def test_what_is_turned_on_and_can_not_be_loaded_is_told_as_that_and_once(settings: Path, site: Site) -> None:
    site.install("acme-words", entries={"tools": {"words": "acme_words:words"}})
    async with MockMessagesApi(["One."]) as api, running(api, settings.parents[1]) as session:
        settings.write_text(json.dumps({"plugins": {"words": True}}))
        first, second = await session.reload(), await session.reload()
        warnings, _ = await said(session)
        (site.folder / "acme_words.py").write_text(dedent(WORDS))
        mended = await session.reload()

    assert len(first) == 1
    assert first[0].startswith("tools/words could not be loaded: ModuleNotFoundError: No module named 'acme_words'")
    assert "start toolpost anew" in first[0]
    assert (second, warnings) == ([], [])
    assert mended == ["tools/words is on"]


async def test_what_is_turned_on_again_runs_the_code_that_it_had_and_that_is_said(settings: Path, site: Site) -> None:
    site.install("acme-words", entries={"tools": {"words": "acme_words:words"}}, acme_words=WORDS)
    async with MockMessagesApi([]) as api, running(api, settings.parents[1]) as session:
        told: list[str] = []
        for is_on in (True, False, True):
            settings.write_text(json.dumps({"plugins": {"words": is_on}}))
            told += await session.reload()

    assert told[:2] == ["tools/words is on", "tools/words is off"]
    assert told[2].startswith("tools/words is on again, with the code that was imported before")


async def test_a_mistake_that_is_new_is_told_at_once_and_not_at_every_reload(settings: Path) -> None:
    async with MockMessagesApi(["One."]) as api, running(api, settings.parents[1]) as session:
        settings.write_text(json.dumps({"plugins": {"acme-nowhere": True}}))
        first, second = await session.reload(), await session.reload()
        warnings, _ = await said(session)

    assert ["'acme-nowhere', which is not installed" in text for text in first] == [True]
    assert (second, warnings) == ([], [])
