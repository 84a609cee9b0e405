"""The pytest plugin: fixtures for authors, and what a broken rule of a kit means. Imports nothing until it is used."""

from __future__ import annotations

from collections.abc import Callable, Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from toolpost.context import ToolContext
    from toolpost.testing.harness import SessionHarness


@pytest.fixture
def toolpost_context(tmp_path: Path) -> ToolContext:
    """The context of a call in `tmp_path`, with real files and processes; `make_context` makes other ones."""
    from toolpost.testing.context import make_context

    return make_context(tmp_path)


@pytest.fixture
def toolpost_session(tmp_path: Path) -> Callable[..., SessionHarness]:
    """Make a SessionHarness in `tmp_path`: toolpost_session("Hello.", plugins=[mine]); the texts are the model's turns."""

    def make(*turns: Any, **fields: Any) -> SessionHarness:
        from toolpost.testing.harness import SessionHarness
        from toolpost.testing.model import FakeModel

        return SessionHarness(tmp_path, FakeModel(*turns), **fields)

    return make


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add to the report of a kit's test that failed which rule it is, and how to keep it."""
    report = yield
    if call.excinfo is not None and report.failed:
        function = getattr(item, "function", None)
        told = getattr(function, "__doc__", None) or ""
        if told.startswith("If this fails:") and getattr(function, "__module__", "").startswith("toolpost.testing."):
            rule = item.name.removeprefix("test_").replace("_", " ")
            report.sections.append(("Toolpost's contract", f"The rule: {rule}.\n{told.strip()}"))
    return report
