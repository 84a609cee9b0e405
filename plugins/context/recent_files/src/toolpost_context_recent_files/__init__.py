"""Shows files again once the conversation goes on from a summary."""

from __future__ import annotations

from collections.abc import Sequence

from toolpost import Compacted, ContextSource, Section, SessionScope, without_middle


class RecentFiles(ContextSource):
    """Attaches the files that were read or changed last."""

    files: int = 5
    tokens: int = 5_000
    tools: tuple[str, ...] = ("Read", "Edit", "Write", "NotebookEdit")

    async def sections(self, scope: SessionScope) -> Sequence[Section]:
        """Return nothing: a conversation that begins has no files yet."""
        del scope
        return ()

    async def after_compaction(self, scope: SessionScope, compacted: Compacted) -> Sequence[Section]:
        """Return a section for each file, the newest first."""
        from toolpost.services import Files
        from toolpost_context_recent_files.calls import recent

        if scope.services is None:
            return ()
        service, sections = scope.services.get(Files), list[Section]()
        shown = set(recent(compacted.left, self.tools))
        for path in recent(compacted.before, self.tools):
            if len(sections) == self.files:
                break
            if path in shown or not path.is_absolute():
                continue
            try:
                text = await service.read_text(path)
            except (OSError, ValueError):  # it is gone, or no text
                continue
            head = f"{path} as it is now, after the conversation was shortened:\n\n"
            sections.append(
                Section(name=f"file.{len(sections):02}", text=head + without_middle(text, self.tokens - 100), order=200)
            )
        return tuple(sections)
