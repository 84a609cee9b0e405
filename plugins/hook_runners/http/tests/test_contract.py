from __future__ import annotations

from hook_server import HookServer  # type: ignore[import-not-found]

from toolpost.testing import HookRunnerContract
from toolpost_hook_runner_http import HttpRunner

SERVER = HookServer()


class TestHttpRunner(HookRunnerContract):
    plugin = HttpRunner
    works = {"type": "http", "url": f"{SERVER.url}/ok"}
    blocks = {"type": "http", "url": f"{SERVER.url}/block"}
    too_slow = {"type": "http", "url": f"{SERVER.url}/slow"}
    broken = {"type": "http", "url": f"{SERVER.url}/broken"}
