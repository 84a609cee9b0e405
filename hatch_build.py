"""Names the members of this workspace as the dependencies of the metapackage `toolpost`.

A static list of names would make `pip install .` ask the public index for each of them. Members are named by path
instead, so that an install from a checkout takes exactly what lies in that checkout.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

MEMBERS = (
    "hookspecs/pyproject.toml",
    "core/pyproject.toml",
    "builtin_tools/*/pyproject.toml",
    "plugins/*/*/pyproject.toml",
)


class StandardSet(MetadataHookInterface):
    """Fills in `dependencies` from the folders."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Add one direct reference for each member's folder."""
        root = Path(self.root)
        found = sorted(file for pattern in MEMBERS for file in root.glob(pattern))
        metadata["dependencies"] = [f"{_name(file)} @ {file.parent.as_uri()}" for file in found]


def _name(pyproject: Path) -> str:
    return str(tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]["name"])
