"""A dispatcher with the listeners of a test."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pluggy

from toolpost import hookspec, on, specs
from toolpost._hooks import PROJECT
from toolpost.events._base import Origin
from toolpost_core.events.dispatch import Dispatcher


class Bench:
    """A dispatcher with the listeners that a test adds, and what it reported."""

    def __init__(self) -> None:
        self.manager = fresh_manager()
        self.told: list[str] = []
        self.events = Dispatcher(self.manager, self.told.append, lambda: Origin(session_id="s1", cwd=Path("/here")))

    def add(self, name: str, *listeners: Callable[..., Any]) -> None:
        """Register a plugin with these listeners."""
        add(self.manager, name, *listeners)


def fresh_manager() -> pluggy.PluginManager:
    """Return a manager that knows every event and has no plugin."""
    manager = pluggy.PluginManager(PROJECT)
    manager.add_hookspecs(specs)
    events = {name: staticmethod(hookspec(getattr(on, name).spec)) for name in on.__all__}
    manager.add_hookspecs(type("Events", (), events))
    return manager


def add(manager: pluggy.PluginManager, name: str, *listeners: Callable[..., Any]) -> None:
    """Register a plugin with these listeners."""
    marked = {f"hear_{number}": staticmethod(listener) for number, listener in enumerate(listeners)}
    manager.register(type("Plugin", (), marked)(), name)
