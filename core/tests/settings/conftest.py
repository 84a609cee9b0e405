from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from toolpost_core.settings import Settings, load


@dataclass(frozen=True)
class Folders:
    """A project, a home and a config folder, with a short way to write each settings file and load them all."""

    project: Path
    home: Path
    config: Path

    def file(self, level: str) -> Path:
        names = {
            "project": self.project / ".toolpost/settings.json",
            "local": self.project / ".toolpost/settings.local.json",
        }
        return names.get(level, self.config / "settings.json")

    def write(self, level: str, content: Mapping[str, Any] | str) -> Path:
        file = self.file(level)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content if isinstance(content, str) else json.dumps(content, indent=2), encoding="utf-8")
        return file

    def load(self, **options: Any) -> Settings:
        return load(self.project, self.home, self.config, **{"trusted": True, "env": {}, **options})


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    project, home = tmp_path / "project", tmp_path / "home"
    project.mkdir()
    home.mkdir()
    return Folders(project, home, home / ".toolpost")
