"""In which order plugins' listeners and resolvers are asked, and what each may answer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from toolpost_core.plugins.capabilities import ROLES, Capabilities
from toolpost_core.plugins.scan import Entry
from toolpost_core.settings.plugins import same_name

if TYPE_CHECKING:
    import pluggy

OF_SETTINGS: Final = " (settings)"
"""Ends the name under which a plugin's listeners for the session's settings are registered."""


class ListenerRules:
    """Follows from what packages declare and from the setting `plugins.order`.

    Plugins are named as they are registered with pluggy, `group/name`. `entries` pairs each entry that is on with what its
    package declares.
    """

    def __init__(self, entries: Iterable[tuple[Entry, Capabilities | None]] = (), order: Sequence[str] = ()) -> None:
        self._entries = {f"{entry.group}/{entry.name}": (entry, declared) for entry, declared in entries}
        self._order = [same_name(name) for name in order]
        self._places: dict[str, tuple[int, str]] = {}

    def entry(self, plugin: str) -> Entry | None:
        """Return the entry of a plugin that is on."""
        found = self._entries.get(plugin.removesuffix(OF_SETTINGS))
        return found[0] if found is not None else None

    def declared(self, plugin: str) -> Capabilities | None:
        """Return what a plugin's package declares; None where it declares nothing."""
        found = self._entries.get(plugin.removesuffix(OF_SETTINGS))
        return found[1] if found is not None else None

    def roles(self, plugin: str, event: str) -> Sequence[str]:
        """Return what a plugin's listener may do; one whose package declares nothing may do all."""
        declared = self.declared(plugin)
        return ROLES if declared is None else declared.roles(event)

    def place(self, plugin: str) -> tuple[int, str]:
        """Return what plugins are sorted by: their place in `plugins.order`, those that it does not name last, by name."""
        if plugin not in self._places:
            self._places[plugin] = self._place(plugin)
        return self._places[plugin]

    def rank(self, listener: pluggy.HookImpl) -> tuple[int, int, str]:
        """Return what listeners are sorted by: what asks to be first or last, then the place of its plugin."""
        return (listener.trylast - listener.tryfirst, *self.place(listener.plugin_name))

    def explained(self, listeners: Iterable[pluggy.HookImpl]) -> list[tuple[str, str]]:
        """Return the plugins in the order in which their listeners are called, each with what its place follows from."""
        told = []
        for listener in sorted(listeners, key=self.rank):
            asks = "first" if listener.tryfirst else "last"
            wish = f"it asks to be {asks}" if listener.tryfirst != listener.trylast else self.why(listener.plugin_name)
            told.append((listener.plugin_name, wish))
        return told

    def why(self, plugin: str) -> str:
        """Say what a plugin's place among those of its kind follows from."""
        at, name = self.place(plugin)
        if at < len(self._order):
            return f"it is number {at + 1} in the setting plugins.order"
        return f"by its name {name!r}" + (", after those that plugins.order names" if self._order else "")

    def _place(self, plugin: str) -> tuple[int, str]:
        name = plugin.removesuffix(OF_SETTINGS)
        found = self._entries.get(name)
        names = {same_name(name.partition("/")[2]), *((same_name(found[0].distribution),) if found else ())}
        at = next((at for at, wanted in enumerate(self._order) if wanted in names), len(self._order))
        return at, name.partition("/")[2] or name
