from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from toolpost import Processes
from toolpost.testing import HookRunnerContract, PlainProcesses
from toolpost_hook_runner_command import CommandRunner


class TestCommandRunner(HookRunnerContract):
    plugin = CommandRunner
    works: ClassVar[Mapping[str, Any]] = {"type": "command", "command": "cat >/dev/null"}
    blocks: ClassVar[Mapping[str, Any] | None] = {"type": "command", "command": "echo not today >&2; exit 2"}
    too_slow: ClassVar[Mapping[str, Any] | None] = {"type": "command", "command": "sleep 600"}
    broken: ClassVar[Mapping[str, Any] | None] = {"type": "command", "command": "/no/such/program"}


class TestCommandRunnerWithTheProcessesService(TestCommandRunner):
    services: ClassVar[Mapping[Any, object]] = {Processes: PlainProcesses()}
