from __future__ import annotations

from toolpost import Processes
from toolpost.testing import ServiceContract
from toolpost_service_processes import ProcessesService


class TestProcesses(ServiceContract):
    plugin = ProcessesService
    protocols = (Processes,)
