"""What a person grants for good is in force at once and in the file that was named."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fake_session import fake_session, listen, of_type, run

from toolpost import Notice, SessionError, SettingsError, on
from toolpost.testing import FakeModel
from toolpost_core.settings.document import Document


def settings_of(tmp_path: Path) -> Any:
    return json.loads((tmp_path / "state" / "settings.json").read_text(encoding="utf-8"))


def folders(kind: Any, *paths: str, destination: str = "userSettings") -> Any:
    return {"type": kind, "destination": destination, "directories": list(paths)}


async def test_a_folder_that_was_granted_for_good_is_in_the_file_and_counts_at_once(tmp_path: Path) -> None:
    async with fake_session(tmp_path, FakeModel()) as session:
        session.update_rules([folders("addDirectories", "/opt/a", "/opt/b")])
        session.update_rules([folders("removeDirectories", "/opt/a")])
        directories = session.surroundings.ctx.scope.directories

    assert settings_of(tmp_path) == {"permissions": {"additionalDirectories": ["/opt/b"]}}
    assert Path("/opt/b") in directories
    assert Path("/opt/a") not in directories


async def test_a_folder_for_the_session_is_in_no_file(tmp_path: Path) -> None:
    async with fake_session(tmp_path, FakeModel()) as session:
        session.update_rules([folders("addDirectories", "/opt/a", destination="session")])
        assert Path("/opt/a") in session.surroundings.ctx.scope.directories

    assert not (tmp_path / "state" / "settings.json").exists()


async def test_a_mode_that_is_to_be_written_says_that_it_is_not(tmp_path: Path) -> None:
    async with fake_session(tmp_path, FakeModel("Hello.")) as session:
        session.update_rules([{"type": "setMode", "mode": "acceptEdits", "destination": "userSettings"}])
        assert session.permission_mode == "acceptEdits"
        assert any("this session only" in notice.text for notice in of_type(await run(session), Notice))


async def test_a_place_that_is_none_is_refused(tmp_path: Path) -> None:
    async with fake_session(tmp_path, FakeModel()) as session:
        with pytest.raises(SettingsError, match="userSettings"):
            session.update_rules([folders("addDirectories", "/opt/a", destination="elsewhere")])


async def test_what_the_session_wrote_itself_is_no_change_of_settings(tmp_path: Path) -> None:
    heard: list[object] = []
    async with fake_session(
        tmp_path, FakeModel("Hello."), listen(on.config_change, lambda event: heard.append(event))
    ) as session:
        session.update_rules([folders("addDirectories", "/opt/a")])
        await run(session)

    assert heard == []


async def test_a_mode_that_changed_settings_forbid_is_left(tmp_path: Path) -> None:
    async with fake_session(tmp_path, FakeModel(), permission_mode="bypassPermissions") as session:
        locked = Document("managed", {"permissions": {"disableBypassPermissionsMode": "disable"}})
        settings = replace(session.parts.settings, documents=(locked,), values=locked.values)
        assert session.surroundings.ctx.mode == "bypassPermissions"
        session.surroundings.adopt(replace(session.parts, settings=settings))

        assert {session.permission_mode, session.surroundings.ctx.mode} == {"default"}


async def test_a_conversation_is_not_cleared_under_a_running_prompt(tmp_path: Path) -> None:
    async with fake_session(tmp_path, FakeModel("Hello.", "Again.")) as session:
        events = session.submit("go")
        await anext(events)
        with pytest.raises(SessionError, match="running"):
            await session.clear()
        assert [event async for event in events]
        await session.clear()
        assert session.messages == ()


BASH = [{"toolName": "Bash"}]


@pytest.mark.parametrize(
    "odd",
    [
        {},
        {"type": ["addRules"], "destination": "session"},
        {"type": "addRules", "behavior": "allow", "rules": BASH},
        {"type": "addRules", "destination": "session", "behavior": "perhaps", "rules": BASH},
        {"type": "addRules", "destination": "session", "behavior": "allow", "rules": ["Bash"]},
        {"type": "addRules", "destination": "session", "behavior": "allow", "rules": [{"ruleContent": "ls"}]},
        {"type": "addDirectories", "destination": "session", "directories": [5]},
        {"type": "setMode", "destination": "session"},
    ],
)
async def test_an_update_that_is_none_is_refused_with_those_beside_it(odd: Any, tmp_path: Path) -> None:
    async with fake_session(tmp_path, FakeModel()) as session:
        with pytest.raises(SettingsError, match="change of permissions"):
            session.update_rules([folders("addDirectories", "/opt/a", destination="session"), odd])
        assert Path("/opt/a") not in session.surroundings.ctx.scope.directories
