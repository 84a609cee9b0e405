from __future__ import annotations

from toolpost.testing import SandboxContract
from toolpost_sandbox_seatbelt import Seatbelt


class TestSeatbelt(SandboxContract):
    plugin = Seatbelt
