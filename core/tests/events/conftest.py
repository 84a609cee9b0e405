from __future__ import annotations

import pytest
from listener_bench import Bench


@pytest.fixture
def bench() -> Bench:
    return Bench()
