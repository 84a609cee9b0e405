from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from fake_site import Site, fresh_site


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """A fresh site whose modules are forgotten after the test."""
    with fresh_site(tmp_path / "site") as site:
        yield site
