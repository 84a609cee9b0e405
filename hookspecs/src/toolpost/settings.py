"""Settings sources: where settings documents come from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias

from toolpost._frozen import frozen
from toolpost._hooks import hookimpl
from toolpost._plugin import Plugin

SettingsLevel: TypeAlias = Literal["managed", "cli", "flag", "local", "project", "user"]
"""The level that a document takes part in, highest first."""


@frozen(kw_only=True)
class SettingsDocument:
    """One settings document. `below` puts it under Toolpost's own file of the same level."""

    level: SettingsLevel
    values: Mapping[str, Any]
    file: Path | None = None
    below: bool = True


class SettingsSource(Plugin, ABC):
    """Adds settings documents. It is asked before any other plugin is made, and can't be enabled by a project."""

    @abstractmethod
    def documents(self, project: Path, home: Path, env: Mapping[str, str]) -> Sequence[SettingsDocument]:
        """Return the documents. Raises SettingsError for a file that can't be used; the others are still used."""

    @hookimpl(specname="settings_sources")
    def _settings_sources(self) -> Sequence[SettingsSource]:
        return (self,)
