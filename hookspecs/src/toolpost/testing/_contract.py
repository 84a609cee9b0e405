"""What all contract kits have in common."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Collection, Coroutine, Mapping
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import pluggy
import pytest

from toolpost import on, specs
from toolpost._hooks import PROJECT, hookspec
from toolpost._plugin import Plugin
from toolpost.testing._imports import IMPORT_BUDGET, heavy_among, importing

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])
BOUND = 20.0
"""Seconds within which a plugin must come to an end; far more than an idle machine needs."""


def exempt(reason: str) -> Callable[[F], F]:
    """Mark a test that replaces one of the kit's; the reason is for the next reader."""
    if not reason.strip():
        raise TypeError("@exempt needs a reason: say why the kit's test does not fit this plugin")

    def mark(test: F) -> F:
        vars(test)["toolpost_exempt"] = reason
        return test

    return mark


class Contract:
    """Base of the kits. Replacing or removing a kit's test without `@exempt("reason")` is an error."""

    files: ClassVar[Mapping[str, str | bytes]] = {}
    """Files that lie in the current folder of each test, by relative path."""
    import_budget: ClassVar[float] = IMPORT_BUDGET
    """Seconds of CPU that importing the plugin's module may take beyond the public API."""
    may_import: ClassVar[Collection[str]] = ()
    """Heavy libraries that the plugin can't do without as it is imported; say why where you set it."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for name, value in vars(cls).items():
            inherited = name.startswith("test_") and any(hasattr(base, name) for base in cls.__bases__)
            if inherited and not hasattr(value, "toolpost_exempt"):
                raise TypeError(
                    f"{cls.__qualname__}.{name} replaces a test of its contract kit. Give it another name, or say why: "
                    f'@exempt("reason").'
                )

    @pytest.fixture
    def folder(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        """The current folder, with `files` in it."""
        place = tmp_path.resolve() / "project"
        place.mkdir()
        for name, content in self.files.items():
            file = place / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content.encode() if isinstance(content, str) else content)
        monkeypatch.chdir(place)
        return place

    @pytest.fixture
    def compiled(self, tmp_path_factory: pytest.TempPathFactory) -> Path:
        """Where fresh interpreters keep what they compiled, if it may not lie beside the source."""
        return tmp_path_factory.getbasetemp() / "compiled"

    def make(self) -> Any:
        """Return the plugin."""
        raise NotImplementedError

    def test_importing_it_is_quick(self, compiled: Path) -> None:
        """If this fails: move imports into the functions that need them; each start of a session waits for this."""
        plugin = self.make()
        seconds = importing(plugin, self.import_budget, compiled).seconds
        assert seconds <= self.import_budget, (
            f"importing it takes {seconds * 1000:.0f} ms of CPU; {self.import_budget * 1000:.0f} ms are allowed. "
            f"What takes long: python -X importtime -c 'import {type(plugin).__module__}'"
        )

    def test_importing_it_loads_no_heavy_library(self, compiled: Path) -> None:
        """If this fails: import the library in the function that needs it: not every session gets there."""
        found = importing(self.make(), math.inf, compiled).modules
        assert heavy_among(found, self.may_import) == []


class PluginContract(Contract):
    """What holds for plugins of every kind.

    A subclass sets `plugin`: the class (it is made with its default settings), or an instance.
    """

    plugin: ClassVar[Any]
    group: ClassVar[str]
    """The registration hook of the kind; the kits set it."""

    def make(self) -> Any:
        """Return a plugin object."""
        return made(self.plugin)

    def test_it_registers_itself_under_its_kind(self) -> None:
        """If this fails: inherit from the base class of the kind: it implements the hook by which core gets the plugin."""
        plugin = self.make()
        assert registered(plugin, self.group) == [plugin], (
            f"the hook {self.group!r} of {plugin!r} does not return the plugin itself"
        )

    def test_its_settings_have_a_schema_and_refuse_unknown_keys(self) -> None:
        """If this fails: give each field a default and a type that can be read from JSON: its value comes from settings."""
        from pydantic import TypeAdapter, ValidationError

        kind = type(self.make())
        if "__dataclass_fields__" not in vars(kind):
            return
        adapter = TypeAdapter(kind)
        assert adapter.json_schema()["type"] == "object"
        try:
            adapter.validate_python({"no_such_setting": 1})
        except ValidationError:
            return
        pytest.fail(f"{kind.__qualname__} takes a setting that it does not have")


def made(plugin: Any) -> Any:
    """Return an instance of a plugin class, or the instance itself."""
    return plugin() if isinstance(plugin, type) and issubclass(plugin, Plugin) else plugin


def hooks_of(plugin: object) -> pluggy.PluginManager:
    """Register a plugin beside all hookspecs; raises where it implements a hook or takes an argument that is not there."""
    plugins = pluggy.PluginManager(PROJECT)
    plugins.add_hookspecs(specs)
    plugins.add_hookspecs(
        type("Events", (), {name: staticmethod(hookspec(getattr(on, name).spec)) for name in on.__all__})
    )
    plugins.register(plugin)
    plugins.check_pending()
    return plugins


def registered(plugin: object, hook: str) -> list[Any]:
    """Return what a plugin gives for a registration hook."""
    return [item for answer in getattr(hooks_of(plugin).hook, hook)() for item in answer]


def quickest(measured: Callable[[], float], limit: float) -> float:
    """Return the first of some seconds that keep a limit, or the best of three.

    Other programs take turns on this machine, so that one try may take longer through no fault of the plugin.
    """
    best = math.inf
    for _ in range(3):
        best = min(best, measured())
        if best <= limit:
            break
    return best


def finish(work: Coroutine[Any, Any, T], *, within: float = BOUND) -> T:
    """Run a coroutine to its end; fails where it takes longer than `within` seconds."""

    async def bounded() -> T:
        try:
            async with asyncio.timeout(within) as bound:
                result = await work
        except TimeoutError:
            if not bound.expired():
                raise
        # A work that swallows its cancellation ends without TimeoutError.
        if bound.expired():
            pytest.fail(f"did not come to an end within {within:g} seconds")
        return result

    return asyncio.run(bounded())
