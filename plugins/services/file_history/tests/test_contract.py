from __future__ import annotations

from toolpost import FileHistory, Journal
from toolpost.testing import MemoryJournal, ServiceContract
from toolpost_service_file_history import FileHistoryService


class TestFileHistoryService(ServiceContract):
    plugin = FileHistoryService
    protocols = (FileHistory,)
    services = {Journal: MemoryJournal()}
