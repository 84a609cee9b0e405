"""TOOLPOST.md, AGENTS.md and CLAUDE.md in the prompt, and rules for certain files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from toolpost import Compacted, ContextSource, Exchanged, Section, SessionScope, StashKey

if TYPE_CHECKING:
    from toolpost import Message
    from toolpost_context_instructions.announce import Loaded
    from toolpost_context_instructions.kinds import InstructionsFile
    from toolpost_context_instructions.places import Names, Standing

_PREFACE: Final = (
    "The files below hold instructions of the user and of the project. Follow them where they concern the task at "
    "hand; one further down is more specific and goes before those above it."
)
_STANDING: Final[StashKey[Standing]] = StashKey("instructions.standing")


class Instructions(ContextSource):
    """Puts instructions files before the first prompt: the user's own, then those of each folder down to the current one.

    In a folder the first of `names` counts, the first of `local_names` beside it, and its rules. Files of folders below,
    and rules for certain files, are told once the model has used such a file with one of `tools`.
    """

    names: tuple[str, ...] = ("TOOLPOST.md", ".toolpost/TOOLPOST.md", "AGENTS.md", "CLAUDE.md")
    local_names: tuple[str, ...] = ("TOOLPOST.local.md", "CLAUDE.local.md")
    tools: tuple[str, ...] = ("Read", "Edit", "Write", "NotebookEdit")
    foreign: tuple[str, ...] = ("node_modules", "site-packages", "vendor")
    """Folders of other people's code, whose files bring no instructions."""
    import_depth: int = 5
    warn_above: int = 40_000
    """Characters of all files together; more than that is reported, and still sent."""

    async def sections(self, scope: SessionScope) -> Sequence[Section]:
        """Return a section for each file, in the order in which they are to be read."""
        from toolpost_context_instructions.places import policy, standing

        again = _STANDING in scope.stash
        scope.stash[_STANDING] = found = standing(scope, self._names(), self.import_depth)
        self._warn(found.files, scope)
        if found.files and scope.services is not None:
            from toolpost_context_instructions.announce import Loaded, announce

            await announce([Loaded(file, "compact" if again else "session_start") for file in found.files], scope)
        return [
            *policy(scope),
            *(
                Section(
                    name=f"instructions.{number:03}",
                    text=file.described if number else f"{_PREFACE}\n\n{file.described}",
                    order=50,
                    user=True,
                    source=str(file.path),
                )
                for number, file in enumerate(found.files)
            ),
        ]

    async def reminders(self, scope: SessionScope, exchanged: Exchanged) -> Sequence[str]:
        """Return what files that were used since the last request bring along, unless it was told already."""
        told = self._brought(exchanged.new, exchanged.messages, scope)
        if not told:
            return ()
        from toolpost_context_instructions.announce import announce

        self._warn([one.file for one in told], scope)
        await announce(told, scope)
        return [one.file.described for one in told]

    async def after_compaction(self, scope: SessionScope, compacted: Compacted) -> Sequence[Section]:
        """Return again what the files that were used had brought along: the model goes on with these files."""
        told = self._brought(compacted.before, compacted.left, scope)
        if told:
            from toolpost_context_instructions.announce import announce

            await announce([replace(one, reason="compact") for one in told], scope)
        return [
            Section(name=f"instructions.{number:03}", text=one.file.described, order=50)
            for number, one in enumerate(told)
        ]

    def _brought(self, using: Sequence[Message], told: Sequence[Message], scope: SessionScope) -> list[Loaded]:
        """Return what the files bring that the calls of some messages used, unless it was told already."""
        from toolpost_context_instructions.nested import brought_along, untold, used_files

        used = used_files(using, self.tools)
        if not used or _STANDING not in scope.stash:
            return []
        from toolpost_context_instructions.files import Reader

        standing = scope.stash[_STANDING]
        reader = Reader(scope, self.import_depth, standing.read)
        brought = list(brought_along(used, scope, standing, self._names(), reader, self.foreign))
        return untold(brought, told) if brought else []

    def _names(self) -> Names:
        from toolpost_context_instructions.places import Names

        return Names(self.names, self.local_names)

    def _warn(self, found: Sequence[InstructionsFile], scope: SessionScope) -> None:
        size = sum(len(file.text) for file in found)
        if size > self.warn_above:
            longest = max(found, key=lambda file: len(file.text))
            scope.report(
                f"The instructions files have {size:,} characters (over {self.warn_above:,}), which every request "
                f"carries. The longest is {longest.path} with {len(longest.text):,}: shorten it."
            )
