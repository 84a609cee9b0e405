from __future__ import annotations

from toolpost.testing import CompactionContract
from toolpost_compaction_summary import Summary


class TestSummary(CompactionContract):
    plugin = Summary
