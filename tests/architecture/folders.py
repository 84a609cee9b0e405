"""What the names of a workspace member must be, by its folder."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
KINDS = {
    "agent_loaders": "agent-loader",
    "compaction": "compaction",
    "context": "context",
    "executors": "executor",
    "frontends": "frontend",
    "hook_runners": "hook-runner",
    "lifecycle": "lifecycle",
    "mcp_transports": "mcp-transport",
    "permission_resolvers": "permission-resolver",
    "providers": "provider",
    "sandboxes": "sandbox",
    "search_backends": "search-backend",
    "services": "service",
    "settings_sources": "settings-source",
    "skill_loaders": "skill-loader",
}
"""Folder under plugins/ (and entry-point group) to the kind in a distribution's name."""


@dataclass(frozen=True)
class Plugin:
    """A plugin's folder, and the names that follow from it."""

    folder: Path

    @property
    def path(self) -> str:
        """The folder as seen from the root, such as `plugins/providers/anthropic`."""
        return self.folder.relative_to(ROOT).as_posix()

    @property
    def entry(self) -> str:
        """The entry point's name."""
        return self.folder.name

    @property
    def group(self) -> str:
        """The entry point's group."""
        kind = self.folder.parent.name
        return "toolpost.tools" if kind == "builtin_tools" else f"toolpost.{kind}"

    @property
    def distribution(self) -> str:
        """The distribution's name."""
        kind = self.folder.parent.name
        return f"toolpost-{'tool' if kind == 'builtin_tools' else KINDS[kind]}-{self.entry.replace('_', '-')}"

    @property
    def package(self) -> str:
        """The import name."""
        return self.distribution.replace("-", "_")

    @property
    def source(self) -> Path:
        """The folder of the import package."""
        return self.folder / "src" / self.package

    @cached_property
    def project(self) -> dict[str, Any]:
        """The whole pyproject.toml."""
        return tomllib.loads((self.folder / "pyproject.toml").read_text(encoding="utf-8"))


PLUGINS = [
    Plugin(folder)
    for pattern in ("builtin_tools/*", "plugins/*/*")
    for folder in sorted(ROOT.glob(pattern))
    if folder.is_dir() and not folder.name.startswith((".", "__"))
]


def sources(folder: Path) -> list[Path]:
    """Return the Python files below a folder."""
    return sorted(file for file in folder.rglob("*.py") if "__pycache__" not in file.parts)
