"""A plugin of pytest's: writes what became of each test of a contract kit, one JSON line each.

It runs in the process that `plugins check` starts, and reads from the environment where to write to.
"""

from __future__ import annotations

import inspect
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import pytest

REPORT: Final = "TOOLPOST_CHECK_REPORT"
ALL: Final = "TOOLPOST_CHECK_ALL"
KITS: Final = "toolpost.testing"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave tests out that belong to no kit, unless all were asked for."""
    if not os.environ.get(ALL):
        others = [item for item in items if not _kit(item)]
        if others:
            config.hook.pytest_deselected(items=others)
            items[:] = [item for item in items if _kit(item)]
    for item in items:
        function = getattr(item, "function", None)
        rule = item.name.removeprefix("test_").replace("_", " ")
        item.user_properties.append(("rule", rule))
        item.user_properties.append(("kit", _kit(item)))
        item.user_properties.append(("mend", " ".join((inspect.getdoc(function) or "").split())))


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Write a line for a test that ended: as it was called, or before if it did not come to that."""
    if report.when == "call" or report.outcome != "passed":
        facts: dict[str, Any] = dict(report.user_properties)
        _write({**facts, "test": report.nodeid, "outcome": report.outcome, "why": _why(report)})


def pytest_collectreport(report: pytest.CollectReport) -> None:
    """Write a line for a file that could not be collected."""
    if report.outcome == "failed":
        _write({"test": report.nodeid, "rule": "its tests can be collected", "outcome": "failed", "why": _why(report)})


def _kit(item: pytest.Item) -> str:
    """The name of the kit that a test belongs to; empty for a test of the author's own."""
    owner = getattr(item, "cls", None)
    name = getattr(item, "originalname", item.name)
    home = next((kind for kind in getattr(owner, "__mro__", ()) if name in vars(kind)), None)
    kits = [kind.__name__ for kind in getattr(owner, "__mro__", ()) if kind.__module__.startswith(KITS)]
    is_replaced = home is not None and hasattr(vars(home)[name], "toolpost_exempt")
    return kits[0] if kits and home is not None and (home.__module__.startswith(KITS) or is_replaced) else ""


def _why(report: pytest.TestReport | pytest.CollectReport) -> str:
    if isinstance(report.longrepr, tuple):  # a skipped test: file, line, reason
        return str(report.longrepr[2]).removeprefix("Skipped: ")
    crash = getattr(report.longrepr, "reprcrash", None)
    return str(crash.message if crash is not None else report.longrepr or "")[:2000]


def _write(line: dict[str, Any]) -> None:
    with Path(os.environ[REPORT]).open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")
