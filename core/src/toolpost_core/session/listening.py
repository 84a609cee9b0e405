"""Registers the lifecycle listeners of one session."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from toolpost_core.plugins.limit import Limit, LoadTimeoutError, load_limit
from toolpost_core.plugins.listening import OF_SETTINGS
from toolpost_core.session.declared import Limits

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from toolpost import SessionScope
    from toolpost_core.plugins.registry import Registry
    from toolpost_core.plugins.scan import Entry
    from toolpost_core.session.added_hooks import AddedHooks
    from toolpost_core.session.parts import Parts


HOOKS: Final = Path("hooks") / "hooks.json"
"""Where in its package a plugin of the kind lifecycle may bring hooks for programs, beside its toolpost.toml."""


def bring_hooks(parts: Parts, added: AddedHooks, warn: Callable[[str], None]) -> None:
    """Put the hooks that plugins bring in files beside those that were added."""
    files = hook_files(parts.registry)
    if not files:
        added.of_plugins = ()
        return
    from toolpost_core.session.plugin_hooks import read_all

    added.of_plugins = read_all(files, parts.registry, parts.places.config_dir, warn)


def hook_files(registry: Registry) -> list[tuple[Entry, Path]]:
    """Return the lifecycle plugins that are on and bring hooks in a file."""
    found = []
    for entry in registry.inventory.entries:
        declared = registry.capabilities(entry) if entry.group == "lifecycle" else None
        if declared is not None and registry.state_of(entry).status == "on":
            file = Path(declared.file).parent / HOOKS
            found += [(entry, file)] if file.is_file() else []
    return found


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
