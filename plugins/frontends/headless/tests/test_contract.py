from __future__ import annotations

from toolpost.testing import FrontendContract
from toolpost_frontend_headless import Headless


class TestHeadless(FrontendContract):
    plugin = Headless
