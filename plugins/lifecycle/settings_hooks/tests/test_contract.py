from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from toolpost.testing import LifecycleContract, make_scope
from toolpost_lifecycle_settings_hooks import SettingsHooks
from toolpost_lifecycle_settings_hooks.config import TITLES


class TestSettingsHooks(LifecycleContract):
    plugin = SettingsHooks

    def listeners(self, folder: Path) -> list[tuple[str, Callable[..., Any]]]:
        hook = {"hooks": [{"type": "command", "command": "true"}]}
        settings = {"hooks": {title: [hook] for title in TITLES}}
        found = self.make().listeners(session=make_scope(folder, settings=settings))
        return [(vars(listener)["toolpost_impl"]["specname"], listener) for listener in found]
