from __future__ import annotations

from toolpost import MemoryFiles
from toolpost.testing import ContextSourceContract, ServiceContract
from toolpost_context_memory import Memory


class TestMemory(ContextSourceContract):
    plugin = Memory


class TestItsFiles(ServiceContract):
    plugin = Memory
    protocols = (MemoryFiles,)
