from __future__ import annotations

from toolpost import Commands
from toolpost.testing import ServiceContract
from toolpost_service_commands import CommandsService


class TestCommands(ServiceContract):
    plugin = CommandsService
    protocols = (Commands,)
