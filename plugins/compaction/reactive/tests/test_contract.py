from __future__ import annotations

from toolpost.testing import CompactionContract
from toolpost_compaction_reactive import Reactive


class TestReactive(CompactionContract):
    plugin = Reactive(keep=0.02)
    full = {"used": 195_000, "trigger": "prompt_too_long"}
