from __future__ import annotations

from toolpost.testing import SandboxContract
from toolpost_sandbox_bubblewrap import Bubblewrap, Nested


class TestBubblewrap(SandboxContract):
    plugin = Bubblewrap


class TestNested(SandboxContract):
    plugin = Nested
