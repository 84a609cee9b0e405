from __future__ import annotations

from contextlib import AbstractAsyncContextManager, nullcontext
from pathlib import Path

import pytest

from toolpost import Provider
from toolpost.testing import ProviderContract
from toolpost_provider_replay import Recorded, Replay

TAPE = Path("tape.jsonl")
LINES = '{"cassette": 1}\n{"say": "I look.", "call": "Read", "input": {"file_path": "a"}}\n'


class Playing(ProviderContract):
    files = {TAPE.name: LINES}

    @pytest.fixture(autouse=True)
    def _beside_the_tape(self, folder: Path) -> None:
        """Makes each test run in the folder."""


class TestReplay(Playing):
    plugin = Replay

    def serving(self) -> AbstractAsyncContextManager[Provider]:
        return nullcontext(Replay(cassette=TAPE, speed=0))


class TestRecorded(Playing):
    plugin = Recorded(Replay(), Path("recorded.jsonl"))

    def serving(self) -> AbstractAsyncContextManager[Provider]:
        return nullcontext(Recorded(Replay(cassette=TAPE, speed=0), Path("recorded.jsonl")))
