from __future__ import annotations

from toolpost.testing import CompactionContract
from toolpost_compaction_micro import Micro


class TestMicro(CompactionContract):
    plugin = Micro
