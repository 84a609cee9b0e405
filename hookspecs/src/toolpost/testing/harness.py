"""`SessionHarness`: a whole session round a plugin, without a model and without what else is installed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from toolpost import specs
from toolpost._hooks import hookimpl
from toolpost.errors import PluginError
from toolpost.permissions import Allow, Decision, PermissionRequest, PermissionResolver
from toolpost.services import Commands, Files, Processes, ServiceOffer
from toolpost.session_events import Notice, RunResult, SessionEvent, ToolFinished
from toolpost.testing.commands import PlainCommands
from toolpost.testing.files import PlainFiles
from toolpost.testing.processes import PlainProcesses

if TYPE_CHECKING:
    from toolpost.frontends import Asker, SessionDoor
    from toolpost.messages import Message
    from toolpost.providers import Provider

GROUP: Final = "toolpost_harness"
"""The entry-point group under which core says how a session is opened."""


@dataclass(frozen=True)
class SessionRecord:
    """What a run came to: every event, and the conversation as it then stood."""

    events: Sequence[SessionEvent]
    messages: Sequence[Message]

    @property
    def result(self) -> RunResult:
        """How the last prompt ended."""
        return next(event for event in reversed(self.events) if isinstance(event, RunResult))

    @property
    def results(self) -> Mapping[str, str]:
        """What the model read of each call, by the call's id."""
        return {event.tool_use_id: event.text for event in self.events if isinstance(event, ToolFinished)}

    @property
    def notices(self) -> Sequence[str]:
        """What the person was told beside the answers, such as that a plugin failed."""
        return [event.text for event in self.events if isinstance(event, Notice)]


@dataclass(frozen=True)
class SessionHarness:
    """Runs whole sessions with an author's plugins and a model whose turns the test writes.

        model = FakeModel(ToolUse("toolu_1", "word_count", {"path": "notes.txt"}), "Two words.")
        harness = SessionHarness(tmp_path, model, plugins=[word_count])
        (harness.project / "notes.txt").write_text("one two")
        record = harness.run("How many words?")
        assert record.results["toolu_1"] == "2 words"

    The session is in `project`, a folder in `folder`. Calls are allowed unless `allow` is false: rules of `settings` and
    `ask` then decide. Files and processes are plain ones where no plugin offers the services. `options` are fields of
    LaunchOptions, `hooks` those of an embedding program. Needs toolpost-core beside the API: pip install toolpost-core.
    """

    folder: Path
    model: Provider
    plugins: Sequence[object] = ()
    allow: bool = True
    ask: Asker | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    hooks: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)

    @property
    def project(self) -> Path:
        """The folder of the session; it is made when it is first asked for."""
        place = self.folder.resolve() / "project"
        place.mkdir(parents=True, exist_ok=True)
        return place

    def run(self, *prompts: str) -> SessionRecord:
        """Run prompts one after another in one session, from a test that is not async."""

        async def all_of_them() -> SessionRecord:
            async with self.session() as session:
                return await record(session, *prompts)

        return asyncio.run(all_of_them())

    @asynccontextmanager
    async def session(self) -> AsyncIterator[SessionDoor]:
        """Open the session, to drive it as a front end does; `record` runs prompts in it."""
        opening = _opener()(
            self.project.parent,
            self.model,
            list(self._entries()),
            ask=self.ask,
            env=self.env,
            settings=self.settings,
            options=self.options,
            hooks=self.hooks,
        )
        async with opening as session:
            yield session

    def _entries(self) -> Iterator[tuple[str, str, object]]:
        given = [*self.plugins, *([_AllowAll()] if self.allow else [])]
        offered = {offer.protocol for plugin in given for offer in _offers(plugin)}
        plain = [offer for offer in _PLAIN if offer.protocol not in offered]
        for number, plugin in enumerate([*given, _Plain(plain)]):
            for group in groups_of(plugin):
                yield group, f"p{number:03d}", plugin


async def record(session: SessionDoor, *prompts: str) -> SessionRecord:
    """Run prompts one after another; return what came of them."""
    events = [event for prompt in prompts for event in [event async for event in session.submit(prompt)]]
    return SessionRecord(events, list(session.messages))


def groups_of(plugin: object) -> list[str]:
    """Return the kinds of a plugin, by the hooks that it implements."""
    hooks = {options.get("specname") or name for name, options in _hooks(plugin)}
    kinds = [name for name in sorted(hooks) if hasattr(specs, name) and name != "listeners"]
    return [*kinds, "lifecycle"] if "listeners" in hooks or not kinds else kinds


def _hooks(plugin: object) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for name in dir(plugin):
        options = getattr(getattr(plugin, name, None), "toolpost_impl", None)
        if isinstance(options, dict):
            yield name, options


def _offers(plugin: object) -> Sequence[ServiceOffer[Any]]:
    found = [name for name, options in _hooks(plugin) if (options.get("specname") or name) == "services"]
    made = plugin() if isinstance(plugin, type) else plugin
    return [offer for name in found for offer in getattr(made, name)()]


def _opener() -> Any:
    from importlib.metadata import entry_points

    for entry in entry_points(group=GROUP):
        return entry.load()
    raise PluginError("SessionHarness runs a real session and needs the core. Install it: pip install toolpost-core")


class _AllowAll(PermissionResolver):
    async def resolve(self, request: PermissionRequest) -> Decision | None:
        return Allow(f"the test allows {request.tool_name}")


_PLAIN: Final[Sequence[ServiceOffer[Any]]] = (
    ServiceOffer(Commands, lambda _: PlainCommands()),
    ServiceOffer(Files, lambda _: PlainFiles()),
    ServiceOffer(Processes, lambda _: PlainProcesses()),
)


@dataclass(frozen=True)
class _Plain:
    offers: Sequence[ServiceOffer[Any]]

    @hookimpl
    def services(self) -> Sequence[ServiceOffer[Any]]:
        return self.offers
