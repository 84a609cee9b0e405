from __future__ import annotations

from toolpost.testing import ExecutorContract
from toolpost_executor_local import LocalExecutor


class TestLocalExecutor(ExecutorContract):
    plugin = LocalExecutor
