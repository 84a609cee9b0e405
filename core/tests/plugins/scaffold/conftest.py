from __future__ import annotations

from pathlib import Path

import pytest

from toolpost_core.plugins.scaffold import KINDS, names_for, render, write


@pytest.fixture(scope="session")
def projects(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A new project of each kind, by the kind."""
    base = tmp_path_factory.mktemp("projects").resolve()
    for kind, said in KINDS.items():
        write(base / kind, render(kind, names_for(f"acme-{kind}", said.group)))
    return {kind: base / kind for kind in KINDS}
