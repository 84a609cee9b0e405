from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

# Test files are imported by path, so that a module which they share has to be findable.
sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def stdin(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[bytes], None]]:
    """Put a pipe in the place of standard input; call it with bytes to write, with b"" for EOF."""
    read, write = os.pipe()
    reader = os.fdopen(read)
    monkeypatch.setattr(sys, "stdin", reader)
    still_open = [True]

    def send(data: bytes) -> None:
        if data:
            os.write(write, data)
        elif still_open.pop():
            os.close(write)

    yield send
    if still_open:
        os.close(write)
    reader.close()
