"""Takes out listeners that fail again and again."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Container

    from toolpost_core.events.terms import Key, Terms

STRIKES: Final = 3
"""Failures after which a listener is not called any more."""


class Quarantine:
    """Counts the failures of each listener of a session; one that failed three times is off.

    A reload changes nothing of that: the same code with the same settings fails again. A plugin begins anew where what
    settings say of it changed, where it was off at a reload in between (a person turned it off, and on again), or where
    another version is installed; what listens for the settings does where any of them changed. A file that was edited
    makes no difference, since a session imports nothing twice.
    """

    def __init__(self) -> None:
        self._failures: Counter[Key] = Counter()
        self._held: dict[Key, tuple[Terms, str]] = {}

    def add(self, listener: Terms, error: str) -> bool:
        """Count a failure; return whether it is the one that takes the listener out."""
        self._failures[listener.key] += 1
        if self._failures[listener.key] != STRIKES:
            return False
        self._held[listener.key] = (listener, error)
        return True

    @property
    def anybody(self) -> bool:
        """Whether any listener is off."""
        return bool(self._held)

    def holds(self, listener: Terms) -> bool:
        """Whether a listener is off."""
        return listener.key in self._held

    def forget(self, plugins: Container[str]) -> None:
        """Let plugins begin anew, by the names that they are registered under."""
        for key in [key for key in self._failures if key[0] in plugins]:
            del self._failures[key]
            self._held.pop(key, None)

    def held(self) -> list[Terms]:
        """Return the listeners that are off."""
        return [listener for listener, _ in self._held.values()]

    def rows(self) -> list[dict[str, Any]]:
        """Return the rows that a transcript keeps; see `times.RECORD`."""
        return [
            {"event": listener.event.title, "plugin": listener.plugin, "blocks": listener.blocks, "error": error}
            for listener, error in self._held.values()
        ]


def notice(listener: Terms) -> str:
    """Say that a listener is off from now on, what follows from that, and what to do."""
    name = listener.plugin.partition("/")[2] or listener.plugin
    goes_on = "what it guards stays blocked" if listener.blocks else "the session goes on without it"
    return (
        f"The {listener.event.title} listener of {listener.plugin!r} failed {STRIKES} times and is off for this session; "
        f"{goes_on}. Mend it, or turn it off: toolpost plugins disable {name}"
    )
