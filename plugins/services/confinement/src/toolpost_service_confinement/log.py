"""Which connections commands made: a line of JSON each, beside the session's transcript."""

from __future__ import annotations

import contextlib
import json
import time
from pathlib import Path


class Log:
    """Appends to a file, which the first line makes; without one nothing is kept."""

    def __init__(self, file: Path | None) -> None:
        self._file = file

    def write(self, host: str, port: int, outcome: str) -> None:
        """Add a connection. What can't be written is passed over: a full disk must not cut the network."""
        if self._file is None:
            return
        line = {"time": round(time.time(), 3), "host": host[:300], "port": port, "outcome": outcome[:300]}
        with contextlib.suppress(OSError):
            self._file.parent.mkdir(parents=True, exist_ok=True)
            with self._file.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
