from __future__ import annotations

from toolpost import Message
from toolpost.testing import CompactionContract, conversation
from toolpost_compaction_snip import Snip


class TestSnip(CompactionContract):
    plugin = Snip

    def messages(self) -> list[Message]:
        """Return a conversation whose results are long: short ones are none of its business."""
        return conversation(30, result="line\n" * 4_000, thoughts=True)
