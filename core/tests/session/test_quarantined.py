"""A listener that is off after its failures, in a session that reloads and that ends."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from fake_site import Site, fresh_site

from toolpost import LaunchOptions, on
from toolpost.events.turn import Notification
from toolpost_core.api import open_session
from toolpost_core.session.session import Session

NOISY = """
    from toolpost import Plugin, hookimpl, on

    class Noisy(Plugin):
        word: str = "no"

        @on.notification
        def hear(self, event):
            raise ValueError(self.word)

        @hookimpl
        def listeners(self, session):
            @on.notification
            def configured(event):
                raise ValueError(str(session.settings.get("language")))

            return [configured]
"""
ALWAYS, FOR_SETTINGS = "lifecycle/noisy", "lifecycle/noisy (settings)"
ON: Mapping[str, Any] = {"enabled": True}


class House:
    """A config folder, and a session that has the plugin."""

    def __init__(self, folder: Path) -> None:
        self.config, self.project = folder / "config", folder / "project"
        self.config.mkdir()
        self.project.mkdir()

    def settings(self, noisy: Any = ON, **more: Any) -> None:
        text = json.dumps({"plugins": {"noisy": noisy}, **more})
        (self.config / "settings.json").write_text(text, encoding="utf-8")

    @asynccontextmanager
    async def session(self) -> AsyncIterator[Session]:
        self.settings()
        env = {"HOME": str(self.config.parent), "TOOLPOST_CONFIG_DIR": str(self.config)}
        async with open_session(LaunchOptions(cwd=self.project), env=env, need_model=False) as session:
            await fail(session, 3)
            assert off(session) == {ALWAYS, FOR_SETTINGS}
            yield session


@pytest.fixture
def house(tmp_path: Path) -> Any:
    with fresh_site(tmp_path / "site") as site:
        _install(site)
        yield House(tmp_path)


def _install(site: Site) -> None:
    site.install("acme-noisy", entries={"lifecycle": {"noisy": "acme_noisy:Noisy"}}, acme_noisy=NOISY)


async def fail(session: Session, times: int) -> list[str | None]:
    """Send an event a few times; return what the listeners failed with the last time."""
    for _ in range(times):
        emission = await session.events.emit(on.notification, Notification(message="look"))
    return [answer.error for answer in emission.answers]


def off(session: Session) -> set[str]:
    return {plugin for plugin, _ in session.events.quarantined()}


async def test_a_reload_turns_nothing_on_again(house: House) -> None:
    async with house.session() as session:
        await session.reload()
        errors = await fail(session, 1)

    assert errors == ["is off after 3 failures"] * 2


async def test_settings_that_say_nothing_of_the_plugin_turn_on_only_what_listens_for_the_settings(house: House) -> None:
    async with house.session() as session:
        house.settings(language="fr")
        await session.reload()
        assert off(session) == {ALWAYS}
        errors = await fail(session, 1)

    assert sorted(map(str, errors)) == ["failed: ValueError: fr", "is off after 3 failures"]


async def test_another_config_of_the_plugin_is_another_try(house: House) -> None:
    async with house.session() as session:
        house.settings({**ON, "config": {"word": "still"}})
        await session.reload()
        assert off(session) == set()
        errors = await fail(session, 1)

    assert "failed: ValueError: still" in errors


async def test_a_person_who_turns_the_plugin_off_and_on_again_has_it_back(house: House) -> None:
    async with house.session() as session:
        house.settings({"enabled": False})
        await session.reload()
        house.settings()
        await session.reload()

        assert off(session) == set()


async def test_the_transcript_keeps_what_was_off(house: House) -> None:
    async with house.session() as session:
        session.transcript.message("user", {"role": "user", "content": "hi"}, session.cwd)
        path = session.transcript_path
    assert path is not None
    records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    (kept,) = [record for record in records if record["type"] == "listener-times"]

    assert {row["plugin"]: (row["event"], row["blocks"], row["error"]) for row in kept["quarantined"]} == {
        ALWAYS: ("Notification", False, "failed: ValueError: no"),
        FOR_SETTINGS: ("Notification", False, "failed: ValueError: None"),
    }
    assert {row["plugin"]: row["failures"] for row in kept["listeners"]} == {ALWAYS: 3, FOR_SETTINGS: 3}
