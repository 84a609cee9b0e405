from __future__ import annotations

import sys
from pathlib import Path

import pytest

# Test files are imported by path, so that modules which they share have to be findable.
sys.path.insert(0, str(Path(__file__).parent))

from history_doubles import Sitting  # type: ignore[import-not-found]


@pytest.fixture
def sitting(tmp_path: Path) -> Sitting:
    return Sitting(tmp_path.resolve())
