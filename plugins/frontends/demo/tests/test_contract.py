from __future__ import annotations

from pathlib import Path

import pytest

from toolpost import LaunchOptions
from toolpost.testing import FakeHost, FrontendContract, exempt, finish
from toolpost_frontend_demo import Demo


class TestDemo(FrontendContract):
    plugin = Demo
    options = LaunchOptions(extra={"yes": True, "fast": True})

    @exempt("the demo opens no session itself: it lays out a project and launches the terminal in it")
    def test_a_run_that_worked_exits_with_0_and_shows_the_answer(
        self, folder: Path, capfd: pytest.CaptureFixture[str]
    ) -> None:
        host = FakeHost(self.options)
        finish(self.make().run(host), within=60)
        assert host.launched == ["terminal"]
        assert host.options.provider == "replay"

    @exempt("it fails where the project's tests still fail at its end, whatever the terminal says")
    def test_a_run_that_failed_exits_with_1_and_shows_the_error(
        self, folder: Path, capfd: pytest.CaptureFixture[str]
    ) -> None:
        assert finish(self.make().run(FakeHost(self.options)), within=60) == 1
