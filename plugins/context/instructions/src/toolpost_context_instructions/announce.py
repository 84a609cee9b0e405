"""InstructionsLoaded for each file that the model is shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from toolpost import Emitter, InstructionsLoaded, MissingService, SessionScope, on
from toolpost_context_instructions.kinds import InstructionsFile

Reason: TypeAlias = Literal["session_start", "nested_traversal", "path_glob_match", "compact"]


@dataclass(frozen=True)
class Loaded:
    """A file and why it was loaded; `trigger` is the file whose reading brought it."""

    file: InstructionsFile
    reason: Reason
    trigger: Path | None = None


async def announce(loaded: Sequence[Loaded], scope: SessionScope) -> None:
    """Tell listeners of each file; where nobody can be told nothing is."""
    if not loaded or scope.services is None:
        return
    try:
        emitter = scope.services.get(Emitter)
    except MissingService:
        return
    for one in loaded:
        file = one.file
        event = InstructionsLoaded(
            file_path=file.path,
            memory_type=file.kind,
            load_reason="include" if file.parent else one.reason,
            globs=file.globs,
            trigger_file_path=one.trigger,
            parent_file_path=file.parent,
        )
        await emitter.emit(on.instructions_loaded, event)
