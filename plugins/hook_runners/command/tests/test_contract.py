from __future__ import annotations

from toolpost import Processes
from toolpost.testing import HookRunnerContract, PlainProcesses
from toolpost_hook_runner_command import CommandRunner


class TestCommandRunner(HookRunnerContract):
    plugin = CommandRunner
    works = {"type": "command", "command": "cat >/dev/null"}
    blocks = {"type": "command", "command": "echo not today >&2; exit 2"}
    too_slow = {"type": "command", "command": "sleep 600"}
    broken = {"type": "command", "command": "/no/such/program"}


class TestCommandRunnerWithTheProcessesService(TestCommandRunner):
    services = {Processes: PlainProcesses()}
