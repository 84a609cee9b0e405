from __future__ import annotations

from toolpost import Part
from toolpost.testing import CompactionContract
from toolpost_compaction_partial import Partial


class TestUpTo(CompactionContract):
    plugin = Partial
    full = {"used": 195_000, "trigger": "partial", "part": Part("up_to", 80)}


class TestFrom(CompactionContract):
    plugin = Partial
    full = {"used": 195_000, "trigger": "partial", "part": Part("from", 41)}
