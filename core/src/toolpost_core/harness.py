"""Sessions of plugins that a test hands over; `toolpost.testing.SessionHarness` finds this by its entry point.

Nothing that is installed takes part. The plugins count as parts of the standard set: they are on, and may decide.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any
from uuid import uuid4

from toolpost import Asker, LaunchOptions, Provider
from toolpost_core import __version__
from toolpost_core.api import find_places
from toolpost_core.loop.budget import Budget, limits_of
from toolpost_core.plugins.registry import Registry
from toolpost_core.plugins.scan import Entry, Inventory
from toolpost_core.session.confining import choose_sandbox
from toolpost_core.session.parts import Parts
from toolpost_core.session.session import Session
from toolpost_core.settings import load
from toolpost_core.transcripts.store import Store


@asynccontextmanager
async def open_harness(
    folder: Path,
    model: Provider,
    plugins: Iterable[tuple[str, str, object]],
    *,
    ask: Asker | None = None,
    env: Mapping[str, str] | None = None,
    settings: Mapping[str, Any] | None = None,
    options: Mapping[str, Any] | None = None,
    hooks: Mapping[str, Sequence[Mapping[str, Any]]] | None = None,
) -> AsyncIterator[Session]:
    """Open a session in `folder/project`, with its home and state beside that.

    `plugins` are (group, name, plugin). `settings` is a settings document, `options` are fields of LaunchOptions, `hooks`
    those of a program.
    """
    project = folder / "project"
    project.mkdir(exist_ok=True)
    launch = LaunchOptions(**{"cwd": project, **(options or {})})
    variables = {"HOME": str(folder / "home"), "TOOLPOST_CONFIG_DIR": str(folder / "state"), **(env or {})}
    places = find_places(launch, variables)
    document = load(
        places.project, places.home, places.config_dir, trusted=True, env=variables, cli=dict(settings or {})
    )
    notices: list[str] = []
    with installed(plugins, lambda problem: notices.append(problem.text)) as registry:
        session = Session(
            Parts(
                places=places,
                options=launch,
                settings=document,
                registry=registry,
                choose=lambda: (model, "harness"),
                reread=lambda: (document, registry),
                store=Store(places.config_dir),
                env=variables,
                version=__version__,
                session_id=launch.session_id or str(uuid4()),
                trusted=True,
                ask=ask,
                sandbox=choose_sandbox(document, registry, notices.append),
                budget=Budget(limits_of(launch)),
                notices=notices,
            )
        )
        if hooks:
            session.added_hooks.add(hooks)
        try:
            await session.start()
            yield session
        finally:
            await session.aclose()


@contextmanager
def installed(plugins: Iterable[tuple[str, str, object]], report: Any = lambda _: None) -> Iterator[Registry]:
    """Return a registry of just these plugins, each a (group, name, plugin)."""
    module = ModuleType(f"toolpost_harness_{uuid4().hex}")
    entries = []
    for group, name, plugin in plugins:
        attribute = f"plugin_{name}"
        setattr(module, attribute, plugin)
        entries.append(Entry(group, name, f"{module.__name__}:{attribute}", f"dist-{name}", "1.0", "", True))
    sys.modules[module.__name__] = module
    try:
        yield Registry(Inventory(tuple(entries)), {}, report)
    finally:
        del sys.modules[module.__name__]
