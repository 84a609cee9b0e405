"""What a program embeds.

async with open_session(LaunchOptions(permission_mode="acceptEdits")) as session:
    async for event in session.submit("fix the failing test"):
        ...
"""

from __future__ import annotations

import asyncio
import os
import sys
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

from toolpost import LaunchOptions, PluginError, ProviderError, SessionError
from toolpost_core import __version__
from toolpost_core.events.outside import Outside
from toolpost_core.loop.budget import Budget, limits_of
from toolpost_core.plugins.groups import GUARDS
from toolpost_core.plugins.printing import aside
from toolpost_core.plugins.registry import Problem, Registry
from toolpost_core.plugins.scan import scan
from toolpost_core.session.parts import Parts, Places
from toolpost_core.session.resuming import resumed
from toolpost_core.session.session import Session
from toolpost_core.settings import Settings, load
from toolpost_core.settings.places import cache_dir, config_dir, home_dir
from toolpost_core.settings.trust import answer, answers, is_trusted
from toolpost_core.transcripts.store import Store

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping, Sequence

    from toolpost import Asker, KeptSession, Provider, Sandbox, SettingsDocument, World
    from toolpost_core.plugins.scan import Inventory

TIDY_AFTER: Final = 1.0
"""Seconds after which a start is over, and what can wait is done."""


@asynccontextmanager
async def open_session(
    options: LaunchOptions | None = None,
    ask: Asker | None = None,
    *,
    env: Mapping[str, str] | None = None,
    need_model: bool = True,
    hooks: Mapping[str, Sequence[Mapping[str, Any]]] | None = None,
    world: World | None = None,
) -> AsyncIterator[Session]:
    """Open a session and close it with everything that it started.

    Without `ask` nobody can be asked for permission. With `need_model` false a session opens also where no provider can
    be used. `hooks` are the program's own, beside those of the settings (see `SessionHooks`). `world` is what the session
    gets from outside. Raises SessionError, SettingsError, ProviderError, and MissingService where nobody can record it.
    """
    parts = assemble(options or LaunchOptions(), ask, dict(os.environ) if env is None else env, world)
    _insist_on_every_file(parts.settings)
    if need_model:
        parts.choose()
    session = Session(parts)
    if parts.options.record is not None:
        from toolpost_core.session.recording import record

        record(session, parts.options.record)
    if parts.outside.world is not None:
        parts.outside.world.begin(session.show, session.interrupt, session.queue)
    if hooks:
        session.added_hooks.add(hooks)
    reason = "other"
    try:
        await session.start()
        tidying = asyncio.get_running_loop().call_later(TIDY_AFTER, _tidy, parts)
        try:
            yield session
            reason = "other" if ask is None else "prompt_input_exit"
        finally:
            tidying.cancel()
    finally:
        await session.aclose(reason)


def assemble(options: LaunchOptions, ask: Asker | None, env: Mapping[str, str], world: World | None = None) -> Parts:
    """Read settings, scan plugins and find the session to go on with; nothing is started."""
    notices: list[str] = []
    places = find_places(options, env)
    settings, registry = read_settings(options, places, env, lambda problem: notices.append(problem.text))
    _insist_on_guards(registry)
    sandbox = _sandbox(settings, registry, notices.append)
    env = {**env, **settings.get("env", {})}
    store = Store(places.config_dir)
    history = resumed(options, store, places)
    forked = history.session_id if history is not None and options.fork_session else None
    fresh = _own_id(options, store, places) or str(uuid4())
    chosen: dict[str, tuple[Provider, str]] = {}
    outside = Outside(world)

    def choose_once() -> tuple[Provider, str]:
        if "it" not in chosen:
            chosen["it"] = choose_provider(registry, options.provider or settings.get("provider"), env)
        return chosen["it"]

    def reread() -> tuple[Settings, Registry]:
        settings, registry = read_settings(options, places, env, lambda problem: notices.append(problem.text))
        _insist_on_guards(registry)
        return settings, registry

    return Parts(
        places=places,
        options=options,
        settings=settings,
        registry=registry,
        choose=lambda: outside.provider(choose_once),
        reread=reread,
        store=store,
        env=env,
        version=__version__,
        session_id=history.session_id if history is not None and forked is None else fresh,
        trusted=settings.trusted,
        ask=ask,
        sandbox=sandbox,
        history=history,
        forked_from=forked,
        budget=Budget(
            limits_of(options, settings.get("maxBudgetUsd")), tell=lambda line: outside.did("spent", line=line)
        ),
        notices=notices,
        outside=outside,
    )


def _insist_on_every_file(settings: Settings) -> None:
    """Raise SettingsError where a file can't be used: a session would do what that file forbids."""
    if settings.unusable:
        from toolpost import SettingsError

        raise SettingsError(
            f"{'; '.join(settings.unusable)}. What it forbids would not hold, so nothing was started. Mend it (`toolpost "
            "settings validate` checks it), or leave its level out: --setting-sources names those to read."
        )


def find_places(options: LaunchOptions, env: Mapping[str, str]) -> Places:
    """Return the folders of a run. Raises SessionError where the project's is not there."""
    try:
        project = (options.cwd or Path.cwd()).resolve(strict=True)
    except OSError as error:
        raise SessionError(f"The folder {options.cwd or 'that this was started in'} is not there: {error}.") from error
    if not project.is_dir():
        raise SessionError(f"{project} is not a folder.")
    return Places(project=project, home=home_dir(env).resolve(), config_dir=config_dir(env))


def read_settings(
    options: LaunchOptions, places: Places, env: Mapping[str, str], report: Callable[[Problem], None]
) -> tuple[Settings, Registry]:
    """Return the effective settings, with what settings sources add, and the registry that follows them."""
    trusted = options.trust or is_trusted(places.config_dir, places.project)
    inventory = scan(cache_dir(env))

    def read(extra: Sequence[SettingsDocument] = ()) -> Settings:
        return load(
            places.project,
            places.home,
            places.config_dir,
            flag=options.settings,
            cli=_from_command_line(options),
            sources=options.setting_sources,
            trusted=trusted,
            extra_documents=extra,
            env=env,
        )

    settings = read()
    if any(entry.group == "settings_sources" for entry in inventory.entries):
        sources = Registry(inventory, settings.plugins, unlocked=_unlocked(inventory, settings, places, env))
        documents: list[SettingsDocument] = []
        told = len(sources.problems)  # the registry below tells these again
        loaded = sources.collect("settings_sources")
        for problem in sources.problems[told:]:
            report(problem)
        for provided in loaded:
            try:
                with aside(provided.plugin, provided.distribution):
                    documents += provided.value.documents(places.project, places.home, env)
            except Exception as error:
                report(Problem(f"The settings source {provided.plugin!r} failed: {error}", provided.plugin))
        settings = read(documents)
    unlocked = _unlocked(inventory, settings, places, env)
    registry = Registry(inventory, settings.plugins, report, order=settings.get("plugins.order", ()), unlocked=unlocked)
    for problem in settings.problems:
        report(problem)
    return settings, registry


def choose_provider(registry: Registry, wanted: str | None, env: Mapping[str, str]) -> tuple[Provider, str]:
    """Return the provider that was asked for, or the first by name that can be used.

    Raises ProviderError, PluginError.
    """
    if wanted:
        provider: Provider = registry.one("providers", wanted).value
        missing = provider.unusable(env)
        if missing:
            raise ProviderError(f"The provider {wanted!r} can't be used: {missing}", kind="authentication_failed")
        return provider, wanted
    reasons = []
    for name in registry.names("providers"):
        try:
            provider = registry.one("providers", name).value
        except PluginError as error:
            reasons.append(f"  {name}: {error}")
            continue
        missing = provider.unusable(env)
        if missing is None:
            return provider, name
        reasons.append(f"  {name}: {missing}")
    if not reasons:
        raise ProviderError(
            "No provider is installed, so there is no model to ask. Install one, such as the standard set: "
            "pip install toolpost",
            kind="authentication_failed",
        )
    raise ProviderError(
        "There is no model to ask. Three ways on:\n"
        "  - set a key of a provider in the environment (see below),\n"
        '  - choose another provider: --provider NAME, or "provider" in settings.json,\n'
        "  - see it work without a key: toolpost demo\n" + "\n".join(reasons),
        kind="authentication_failed",
    )


class LocalHost:
    """The `Host` of front ends: opens sessions in this process."""

    def __init__(self, options: LaunchOptions, env: Mapping[str, str] | None = None) -> None:
        self._options = options
        self._env = dict(os.environ) if env is None else env

    @property
    def options(self) -> LaunchOptions:
        """How the run was asked for."""
        return self._options

    @property
    def version(self) -> str:
        """The version of core."""
        return __version__

    def untrusted(self) -> Sequence[str]:
        """What waits for the person's trust in this folder, where they have not been asked yet."""
        places = find_places(self._options, self._env)
        if self._options.trust or places.project in answers(places.config_dir):
            return ()
        settings, _ = read_settings(self._options, places, self._env, lambda _: None)
        return [f"{problem.file}: {', '.join(problem.withheld)}" for problem in settings.problems if problem.withheld]

    def trust(self, trusted: bool) -> None:
        """Keep the person's answer for this folder."""
        places = find_places(self._options, self._env)
        answer(places.config_dir, places.project, trusted)

    def sessions(self) -> Sequence[KeptSession]:
        """The sessions of the folder, newest first."""
        places = find_places(self._options, self._env)
        return [session.kept() for session in Store(places.config_dir).of(places.project)]

    def open(self, options: LaunchOptions, ask: Asker | None = None) -> AbstractAsyncContextManager[Session]:
        """Open a session; what nobody shows any more at its end goes to standard error."""
        return self._opened(options, ask)

    @asynccontextmanager
    async def _opened(self, options: LaunchOptions, ask: Asker | None) -> AsyncIterator[Session]:
        notices: list[str] = []
        try:
            async with open_session(options, ask, env=self._env) as session:
                notices = session.parts.notices
                yield session
        finally:
            for text in notices if sys.stderr is not None and not sys.stderr.closed else ():
                with suppress(OSError):
                    print(f"toolpost: warning: {text}", file=sys.stderr)

    async def launch(self, frontend: str, options: LaunchOptions) -> int:
        """Run another front end to its end and return its exit code."""
        places = find_places(options, self._env)
        _, registry = read_settings(options, places, self._env, lambda _: None)
        code: int = await registry.one("frontends", frontend).value.run(LocalHost(options, self._env))
        return code


def make_host(options: LaunchOptions, env: Mapping[str, str] | None = None) -> LocalHost:
    """Return the host that front ends are run with."""
    return LocalHost(options, env)


def _unlocked(inventory: Inventory, settings: Settings, places: Places, env: Mapping[str, str]) -> Mapping[str, str]:
    """Return why distributions are refused that are not as the project's lock has them."""
    if not (places.project / ".toolpost" / "plugins.lock").exists():
        return {}
    from toolpost_core.plugins.lock import refusals

    return refusals(places.project, inventory, settings.plugins, cache_dir(env), trusted=settings.trusted)


def _insist_on_guards(registry: Registry) -> None:
    """Raise SessionError where the lock refuses a plugin that may hold calls back: without it more would be allowed."""
    for entry in registry.inventory.entries:
        why = registry.unlocked.get(entry.distribution)
        if entry.group in GUARDS and why is not None and registry.state_of(entry) == ("refused", why):
            raise SessionError(
                f"The plugin {entry.name!r} ({entry.distribution}), which holds calls back, is refused, and no session "
                f"starts without it: {why}"
            )


def _sandbox(settings: Settings, registry: Registry, report: Callable[[str], None]) -> Sandbox | None:
    if not settings.get("sandbox.enabled"):
        return None
    from toolpost_core.session.confining import choose_sandbox

    return choose_sandbox(settings, registry, report)


def _tidy(parts: Parts) -> None:
    from toolpost_core.transcripts.tidying import tidy_daily

    if parts.options.persist:
        tidy_daily(parts.store, parts.settings, cache_dir(parts.env))


def _own_id(options: LaunchOptions, store: Store, places: Places) -> str | None:
    if options.session_id is None or not options.persist:
        return options.session_id
    return store.vacant(places.project, options.session_id)


def _from_command_line(options: LaunchOptions) -> dict[str, Any]:
    """Return what flags say as a settings document."""
    permissions: dict[str, Any] = {}
    if options.allowed_tools:
        permissions["allow"] = list(options.allowed_tools)
    if options.disallowed_tools:
        permissions["deny"] = list(options.disallowed_tools)
    values: dict[str, Any] = {"permissions": permissions} if permissions else {}
    if options.bare:
        values |= {"disableAllHooks": True, "autoMemoryEnabled": False}
    if options.plugin_config:
        values["plugins"] = {name: {"enabled": True, "config": dict(c)} for name, c in options.plugin_config.items()}
    return values
