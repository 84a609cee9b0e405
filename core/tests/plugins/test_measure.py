from __future__ import annotations

import os
import subprocess
from typing import Any

import pytest

from toolpost_core.plugins import measure
from toolpost_core.plugins.scan import Entry

BUSY = """
import time

until = time.process_time() + 0.1
while time.process_time() < until:
    pass
thing = 1
"""


def test_only_what_seems_slow_is_imported_again_and_compiled_for_it_elsewhere(
    site: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.install("acme-two", acme_busy=BUSY, acme_quick="thing = 1\n")
    busy, quick = (
        Entry("tools", name, f"acme_{name}:thing", "acme-two", "1.0", "", False) for name in ("busy", "quick")
    )
    runs: list[tuple[str, bool]] = []
    run = subprocess.run

    def seen(*args: Any, **options: Any) -> Any:
        runs.append((options["input"], "PYTHONPYCACHEPREFIX" in options["env"]))
        return run(*args, **options)

    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    monkeypatch.delitem(os.environ, "PYTHONPYCACHEPREFIX", raising=False)
    monkeypatch.setattr(subprocess, "run", seen)
    costs = measure.import_costs([busy, quick])
    assert costs[busy].seconds > measure.BUDGET > costs[quick].seconds
    (first, elsewhere), (again, elsewhere_again) = runs
    assert ("acme_quick" in first, elsewhere) == (True, False)
    assert ("acme_quick" in again, again.count("acme_busy"), elsewhere_again) == (False, measure.TRIES, True)
