"""A recorded session as it is opened again: with its own options and settings, and in a state folder of its own."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, cast

import toolpost
from toolpost import LaunchOptions, Recorder
from toolpost._frozen import frozen
from toolpost_core import __version__
from toolpost_core.api import LocalHost, find_places, open_session, read_settings
from toolpost_core.cli.launch import frontend_name
from toolpost_core.cli.player import Player
from toolpost_core.session.recording import installed, places_of, played_env, played_options, restore
from toolpost_core.session.services import ServiceTable
from toolpost_core.transcripts.redaction import Redactor

if TYPE_CHECKING:
    from toolpost import Asker, Frontend, Question, Replay, Reply, SessionEvent
    from toolpost_core.plugins.registry import Registry
    from toolpost_core.session.parts import Places
    from toolpost_core.session.session import Session

STAND_IN: Final[Mapping[str, Any]] = {"input_format": "text", "prompt": "(the recorded prompts)"}
"""What front ends are told of the prompts: they submit one, and the recorded ones are run for it."""


@frozen()
class Played:
    """A recording that is about to be played: what plays it, and the front end with its host.

    `same_plugins` says whether the same plugins are installed, in the same versions, and core is the same.
    """

    world: Replay
    host: PlayedHost
    frontend: Frontend
    same_plugins: bool


class PlayedHost(LocalHost):
    """Opens the recorded session; whatever the front end submits, it gets the recorded prompts. `opened` says it did."""

    def __init__(self, options: LaunchOptions, env: Mapping[str, str], world: Replay) -> None:
        super().__init__(options, env)
        self._world = world
        self.opened = False

    def open(self, options: LaunchOptions, ask: Asker | None = None) -> AbstractAsyncContextManager[Session]:
        """Open the session; where a person could be asked then, the recording answers."""
        interactive = bool(self._world.header.get("interactive"))
        return self._open(options, _nobody if interactive else ask)

    @asynccontextmanager
    async def _open(self, options: LaunchOptions, ask: Asker | None) -> AsyncIterator[Session]:
        async with open_session(options, ask, env=self._env, world=self._world) as session:
            self.opened = True
            yield cast("Session", _Played(session, self._world))


class _Played:
    """A session with which all is done that was done with the recorded one, for the prompt that a front end submits."""

    def __init__(self, session: Session, world: Replay) -> None:
        self._session, self._world = session, world

    async def submit(self, prompt: Any, *, message_id: str | None = None) -> AsyncIterator[SessionEvent]:
        """Play the recording."""
        del prompt, message_id
        player = Player(self._session)
        self._world.play(player.do)
        async for event in player.events():
            yield event

    def __getattr__(self, name: str) -> Any:
        return getattr(self._session, name)


def open_recording(
    file: Path,
    state: Path,
    cwd: Path | None,
    *,
    real_tools: bool,
    output_format: Literal["text", "json", "stream-json"],
) -> Played:
    """Read a recording, and make what plays it. Raises SessionError, SettingsError, MissingService, PluginError.

    It is played in `cwd`, otherwise in the folder in which it was made where that is there, otherwise in the current one.
    `state` is its configuration folder.
    """
    here = LaunchOptions(cwd=cwd)
    places = find_places(here, os.environ)
    _, registry = read_settings(here, places, os.environ, lambda _: None)
    recorder = _recorder(registry, places)
    header = recorder.replay(file, {}, lambda value: value).header
    project = cwd or _folder(header) or Path.cwd()
    env = played_env(header, os.environ, state)
    options = played_options(header, project, output_format=output_format, **STAND_IN)
    played_in = find_places(options, env)
    restore(header, played_in)
    world = recorder.replay(file, places_of(played_in), Redactor.of(env), real_tools=real_tools)
    settings, registry = read_settings(options, played_in, env, lambda _: None)
    frontend: Frontend = registry.one("frontends", frontend_name(settings, "print")).value
    same = (header.get("version"), header.get("installed")) == (__version__, installed(registry))
    return Played(world, PlayedHost(options, env, world), frontend, same)


def _recorder(registry: Registry, places: Places) -> Recorder:
    """Return the service outside of a session. Raises MissingService."""

    def scope() -> toolpost.SessionScope:
        return toolpost.SessionScope(
            session_id="",
            project=places.project,
            cwd=places.project,
            home=places.home,
            config_dir=places.config_dir,
            env=os.environ,
        )

    return ServiceTable(registry, scope, lambda _: None).get(Recorder)


def _folder(header: Mapping[str, Any]) -> Path | None:
    folder = Path(header.get("places", {}).get("project", ""))
    return folder if folder.is_absolute() and folder.is_dir() else None


async def _nobody(question: Question) -> Reply:
    """The recording answers before anybody is asked."""
    del question
    return toolpost.Reply(allow=False)
