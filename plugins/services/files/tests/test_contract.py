from __future__ import annotations

from toolpost import Files
from toolpost.testing import ServiceContract
from toolpost_service_files import FilesService


class TestFilesService(ServiceContract):
    plugin = FilesService
    protocols = (Files,)
