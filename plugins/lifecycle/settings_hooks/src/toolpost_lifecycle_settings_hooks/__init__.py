"""Runs the hooks that settings.json configures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from toolpost import Plugin, SessionScope, hookimpl


class SettingsHooks(Plugin):
    """Listens to the events that the `hooks` key of the settings names, and to no others."""

    @hookimpl
    def listeners(self, session: SessionScope) -> Sequence[Callable[..., Any]]:
        """Return a listener for each event that has hooks; core leaves out those that settings switch off."""
        configured = session.settings.get("hooks")
        if not configured:
            return ()
        from toolpost_lifecycle_settings_hooks.bridge import listeners_for
        from toolpost_lifecycle_settings_hooks.config import read_hooks

        return listeners_for(read_hooks(configured, session.report), session)
