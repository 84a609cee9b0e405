"""What the model keeps of a project from one session to the next."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from toolpost import Compacted, ContextSource, Exchanged, Section, SessionScope, hookimpl

from .places import INDEX, folder_of

if TYPE_CHECKING:
    from toolpost import PermissionResolver, ServiceOffer


class Memory(ContextSource):
    """Keeps memories as files: tells the model how, shows it the index, and recalls what fits a prompt.

    `recall` lets the small model pick the files that fit, `picks` at most for a prompt. With `daily_log` the model adds to
    a log for each day instead, and making memories of that is left to somebody else.
    """

    recall: bool = True
    picks: int = 5
    daily_log: bool = False

    async def sections(self, scope: SessionScope) -> Sequence[Section]:
        """Return how memory is kept, and the index where there is one; nothing for a sub-agent."""
        folder = None if scope.agent_id else folder_of(scope)
        if folder is None:
            return ()
        from .told import how_to_keep, index_in

        section = Section(name="memory", text=how_to_keep(folder, daily_log=self.daily_log), order=90)
        index = index_in(folder)
        if not index:
            return (section,)
        return section, Section(name="memory.index", text=index, order=90, user=True, source=str(folder / INDEX))

    async def reminders(self, scope: SessionScope, exchanged: Exchanged) -> Sequence[str]:
        """Return what was recalled since the last request."""
        from .recall import RECALL

        return scope.stash[RECALL].taken(exchanged.messages) if RECALL in scope.stash else ()

    async def after_compaction(self, scope: SessionScope, compacted: Compacted) -> Sequence[Section]:
        """Attach nothing, but let what was shown be recalled again: it is gone with the conversation."""
        del compacted
        from .recall import RECALL

        if RECALL in scope.stash:
            scope.stash[RECALL].forget()
        return ()

    @hookimpl
    def listeners(self, session: SessionScope) -> Sequence[Callable[..., Any]]:
        """Return what recalls memories; nothing where none are kept yet, as those of this session are known in it."""
        folder = folder_of(session) if self.recall else None
        if folder is None or not folder.is_dir():
            return ()
        from .recall import listener_for

        return (listener_for(folder, session, self.picks),)

    @hookimpl(specname="permission_resolvers")
    def _resolvers(self) -> Sequence[PermissionResolver]:
        from .writes import MemoryWrites

        return (MemoryWrites(),)

    @hookimpl(specname="services")
    def _services(self) -> Sequence[ServiceOffer[Any]]:
        from toolpost import MemoryFiles, ServiceOffer

        from .files import Folder

        return (ServiceOffer(MemoryFiles, lambda scope: Folder(folder_of(scope))),)
