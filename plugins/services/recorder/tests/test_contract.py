from __future__ import annotations

from toolpost import Recorder
from toolpost.testing import ServiceContract
from toolpost_service_recorder import RecorderService


class TestRecorderService(ServiceContract):
    plugin = RecorderService
    protocols = (Recorder,)
