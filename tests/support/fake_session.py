"""A real session of plugins that a test writes: nothing that is installed takes part but what the test names.

    async with fake_session(tmp_path, FakeModel(ToolUse("toolu_1", "echo", {"text": "hi"}), "Done."), echo) as session:
        events = await run(session, "say hi")

A plugin is sorted by its base class; anything else is taken for a bearer of listeners. `group("services", offer)` names
the kind of one that needs it.
"""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from toolpost import (
    Allow,
    Asker,
    CompactionStrategy,
    ContextSource,
    Decision,
    Event,
    LaunchOptions,
    PermissionRequest,
    PermissionResolver,
    Provider,
    RunResult,
    SessionEvent,
    Tool,
    ToolFinished,
    hookimpl,
)
from toolpost_core.api import find_places
from toolpost_core.harness import installed
from toolpost_core.loop.budget import Budget, limits_of
from toolpost_core.plugins.registry import Registry
from toolpost_core.session.parts import Parts
from toolpost_core.session.session import Session
from toolpost_core.settings import load
from toolpost_core.transcripts.history import read
from toolpost_core.transcripts.store import Store

E = TypeVar("E")
_KINDS: dict[type[Any], str] = {
    Tool: "tools",
    PermissionResolver: "permission_resolvers",
    CompactionStrategy: "compaction",
    ContextSource: "context",
}
_numbers = itertools.count()


class AllowAll(PermissionResolver):
    """Lets every call through that nobody else holds back."""

    async def resolve(self, request: PermissionRequest) -> Decision | None:
        return Allow("the test allows everything")


class _Grouped(NamedTuple):
    group: str
    plugin: object


def group(name: str, plugin: object) -> object:
    """Say of which kind a plugin is, where its class does not."""
    return _Grouped(name, plugin)


def listen(event: Event[Any, Any], function: Any, **options: Any) -> object:
    """Return a plugin with one listener."""
    mark = event.listener(**options) if options else event
    return type("Listening", (), {"hear": staticmethod(mark(function))})()


def offer(value: object) -> object:
    """Return a plugin that brings one service offer."""

    class Offering:
        @hookimpl
        def services(self) -> Sequence[Any]:
            return [value]

    return group("services", Offering())


@contextmanager
def registry_of(plugins: Iterable[object], report: Any = lambda _: None) -> Iterator[Registry]:
    """A registry of just these plugins, all of the standard set, in the order in which they are given."""
    given = [plugin if isinstance(plugin, _Grouped) else _Grouped(_kind(plugin), plugin) for plugin in plugins]
    entries = [(kind, f"p{number:03d}", plugin) for number, (kind, plugin) in enumerate(given)]
    with installed(entries, report) as registry:
        yield registry


@asynccontextmanager
async def fake_session(
    tmp_path: Path,
    model: Provider,
    *plugins: object,
    ask: Asker | None = None,
    allow: bool = True,
    resume: Path | None = None,
    env: Mapping[str, str] | None = None,
    rules: Mapping[str, Sequence[str]] | None = None,
    **options: Any,
) -> AsyncIterator[Session]:
    """Open a session in `tmp_path/project`; `allow` adds `AllowAll`, `options` are those of LaunchOptions."""
    project = tmp_path / "project"
    project.mkdir(exist_ok=True)
    launch = LaunchOptions(**{"cwd": project, **options})
    variables = {"HOME": str(tmp_path / "home"), "TOOLPOST_CONFIG_DIR": str(tmp_path / "state"), **(env or {})}
    places = find_places(launch, variables)
    settings = load(
        places.project, places.home, places.config_dir, trusted=True, env=variables, cli={"permissions": rules or {}}
    )
    history = read(resume) if resume is not None else None
    notices: list[str] = []
    with registry_of(
        [*plugins, *([AllowAll()] if allow else [])], lambda problem: notices.append(problem.text)
    ) as registry:
        session = Session(
            Parts(
                places=places,
                options=launch,
                settings=settings,
                registry=registry,
                choose=lambda: (model, "fake"),
                reread=lambda: (settings, registry),
                store=Store(places.config_dir),
                env=variables,
                version="0",
                session_id=_session_id(history, launch),
                trusted=True,
                ask=ask,
                history=history,
                forked_from=history.session_id if history is not None and launch.fork_session else None,
                budget=Budget(limits_of(launch)),
                notices=notices,
            )
        )
        try:
            await session.start()
            yield session
        finally:
            await session.aclose()


def _session_id(history: Any, launch: LaunchOptions) -> str:
    if history is not None and not launch.fork_session:
        return str(history.session_id)
    return launch.session_id or f"00000000-0000-4000-8000-{next(_numbers):012d}"


def _kind(plugin: object) -> str:
    return next((kind for base, kind in _KINDS.items() if isinstance(plugin, base)), "lifecycle")


async def run(session: Session, prompt: str = "go") -> list[SessionEvent]:
    """Run a prompt to its end; return every event."""
    return [event async for event in session.submit(prompt)]


def result_of(events: Sequence[SessionEvent]) -> RunResult:
    """Return the RunResult, and make sure that it is the only one and the last."""
    (result,) = of_type(events, RunResult)
    assert events[-1] is result
    return result


def of_type(events: Iterable[SessionEvent], kind: type[E]) -> list[E]:
    """Return the events of one type."""
    return [event for event in events if isinstance(event, kind)]


def texts(events: Iterable[SessionEvent]) -> dict[str, str]:
    """Return what the model read of each call, by its id."""
    return {event.tool_use_id: event.text for event in of_type(events, ToolFinished)}
