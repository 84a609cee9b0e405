from __future__ import annotations

from pathlib import Path

import pytest
from tests.security.sandbox_cell import Cell


@pytest.fixture
def cell(tmp_path: Path) -> Cell:
    return Cell(tmp_path.resolve())
