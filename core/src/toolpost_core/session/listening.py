"""Registers the lifecycle listeners of one session."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from toolpost_core.plugins.limit import Limit, LoadTimeoutError, load_limit
from toolpost_core.plugins.listening import OF_SETTINGS
from toolpost_core.session.declared import Limits

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from toolpost import SessionScope
    from toolpost_core.plugins.registry import Registry


def listen(registry: Registry, scope: SessionScope, warn: Callable[[str], None]) -> None:
    """Load lifecycle plugins, and register the listeners that depend on the session's settings.

    Those that were registered before go.
    """
    registry.collect("lifecycle")
    manager, limits = registry.manager, Limits(registry.manager.rules)
    for impl in manager.hook.listeners.get_hookimpls():
        name = f"{impl.plugin_name}{OF_SETTINGS}"
        if manager.has_plugin(name):
            manager.unregister(name=name)
        try:
            with Limit(load_limit()):
                functions = cast(
                    "Sequence[Callable[..., object]]", impl.function(limits.scope(scope, impl.plugin_name))
                )
            if functions:
                marked = {f"listener_{n}": staticmethod(function) for n, function in enumerate(functions)}
                manager.register(type("Listeners", (), marked)(), name)
        except (Exception, LoadTimeoutError) as error:
            warn(f"The listeners of {impl.plugin_name!r} could not be set up: {error}")
