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
        from toolpost_lifecycle_settings_hooks.oddities import odd_entry
        from toolpost_lifecycle_settings_hooks.startable import why_not_startable

        hooks = read_hooks(configured, session.report, session.env)
        for hook in (hook for event in hooks.values() for hook in event):
            for odd in odd_entry(hook.handler):
                session.report(f"settings: {hook.where} {odd.removesuffix('?')}{'?' if odd.endswith('?') else '.'}")
            if why := why_not_startable(hook.handler, session.project, session.env):
                then = "blocks whatever it gates" if hook.blocks_on_failure else "holds nothing back"
                session.report(f"settings: {hook.where} can't start and {then}: {why} ({hook.label}).")
        return listeners_for(hooks, session)
