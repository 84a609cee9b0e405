from __future__ import annotations

from toolpost import Inbox, Tasks
from toolpost.testing import InboxLog, ServiceContract
from toolpost_service_background import BackgroundService


class TestBackground(ServiceContract):
    plugin = BackgroundService
    protocols = (Tasks,)
    services = {Inbox: InboxLog()}
