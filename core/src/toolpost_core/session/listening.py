"""Registers the lifecycle listeners of one session."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from toolpost_core.plugins.listening import OF_SETTINGS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from toolpost import SessionScope
    from toolpost_core.plugins.registry import Registry


def listen(registry: Registry, scope: SessionScope, warn: Callable[[str], None]) -> None:
    """Load lifecycle plugins, and register the listeners that depend on the session's settings."""
    registry.collect("lifecycle")
    for impl in registry.manager.hook.listeners.get_hookimpls():
        try:
            functions = cast("Sequence[Callable[..., object]]", impl.function(scope))
            if functions:
                marked = {f"listener_{n}": staticmethod(function) for n, function in enumerate(functions)}
                registry.manager.register(type("Listeners", (), marked)(), f"{impl.plugin_name}{OF_SETTINGS}")
        except Exception as error:
            warn(f"The listeners of {impl.plugin_name!r} could not be set up: {error}")
