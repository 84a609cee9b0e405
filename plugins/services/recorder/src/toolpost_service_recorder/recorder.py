"""`Recorder`: sessions in files of JSON lines."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from toolpost import Replay, World


class FileRecorder:
    """Keeps each session in a file of its own."""

    def record(self, path: Path, header: Mapping[str, Any], redact: Callable[[Any], Any]) -> World:
        """Begin a file; one that is there is written anew."""
        from .recording import Recording
        from .writing import Writer

        return Recording(Writer(path, header, redact))

    def replay(
        self,
        path: Path,
        places: Mapping[str, str],
        redact: Callable[[Any], Any],
        *,
        real_tools: bool = False,
        stall: float = 5.0,
    ) -> Replay:
        """Read a file."""
        from .comparing import Comparable
        from .playing import Playing
        from .reading import Tape

        tape = Tape.read(path, real_tools=real_tools)
        comparable = Comparable((tape.header.get("places", {}), places), redact)
        return Playing(tape, comparable, real_tools=real_tools, stall=stall)
