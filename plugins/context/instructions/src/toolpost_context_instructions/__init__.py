"""TOOLPOST.md, AGENTS.md and CLAUDE.md in the prompt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from toolpost import ContextSource, Section, SessionScope

if TYPE_CHECKING:
    from toolpost_context_instructions.files import InstructionsFile

_PREFACE = (
    "The files below hold instructions of the user and of the project. Follow them where they concern the task at "
    "hand; one further down is more specific and goes before those above it."
)


class Instructions(ContextSource):
    """Puts instructions files before the first prompt: the user's own, then those of each folder down to the current one.

    In a folder the first of `names` counts, and the first of `local_names` beside it.
    """

    names: tuple[str, ...] = ("TOOLPOST.md", "AGENTS.md", "CLAUDE.md")
    local_names: tuple[str, ...] = ("TOOLPOST.local.md", "CLAUDE.local.md")
    import_depth: int = 5
    warn_above: int = 40_000
    """Characters of all files together; more than that is reported, and still sent."""

    async def sections(self, scope: SessionScope) -> Sequence[Section]:
        """Return a section for each file, in the order in which they are to be read."""
        from toolpost_context_instructions.files import load

        found = load(scope, self.names, self.local_names, self.import_depth)
        self._warn(found, scope)
        await _announce(found, scope)
        return [
            Section(
                name=f"instructions.{number:03}",
                text=file.described if number else f"{_PREFACE}\n\n{file.described}",
                order=50,
                user=True,
                source=str(file.path),
            )
            for number, file in enumerate(found)
        ]

    def _warn(self, found: Sequence[InstructionsFile], scope: SessionScope) -> None:
        size = sum(len(file.text) for file in found)
        if size > self.warn_above:
            longest = max(found, key=lambda file: len(file.text))
            scope.report(
                f"The instructions files have {size:,} characters (over {self.warn_above:,}), which every request "
                f"carries. The longest is {longest.path} with {len(longest.text):,}: shorten it."
            )


async def _announce(found: Sequence[InstructionsFile], scope: SessionScope) -> None:
    """Send InstructionsLoaded for each file."""
    if not found or scope.services is None:
        return
    from toolpost import Emitter, InstructionsLoaded, MissingService, on

    try:
        emitter = scope.services.get(Emitter)
    except MissingService:
        return
    for file in found:
        event = InstructionsLoaded(
            file_path=file.path,
            memory_type=file.kind,
            load_reason="include" if file.parent else "session_start",
            parent_file_path=file.parent,
        )
        await emitter.emit(on.instructions_loaded, event)
