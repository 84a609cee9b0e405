from __future__ import annotations

from toolpost.testing import SandboxContract
from toolpost_sandbox_bubblewrap import Bubblewrap


class TestBubblewrap(SandboxContract):
    plugin = Bubblewrap
