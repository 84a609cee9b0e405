from __future__ import annotations

from toolpost.testing import FrontendContract
from toolpost_frontend_terminal import Terminal


class TestTerminal(FrontendContract):
    plugin = Terminal
