from __future__ import annotations

from toolpost.testing import CompactionContract
from toolpost_compaction_session_memory import SessionMemory


class TestSessionMemory(CompactionContract):
    plugin = SessionMemory(min_tokens=1_000, min_texts=2, max_tokens=4_000)
