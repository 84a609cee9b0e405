"""The session's sources of the prompt, each with its own view of the session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolpost import ContextSource
from toolpost_core.events.outside import Outside
from toolpost_core.prompt.sections import Source
from toolpost_core.session.declared import Limits

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from toolpost import Section, SessionScope
    from toolpost.prompt import Compacted, Exchanged
    from toolpost_core.plugins.registry import Registry


class LimitedSource(ContextSource):
    """A source that is asked with what its plugin may see, through the session's `outside`."""

    def __init__(self, source: ContextSource, limits: Limits, plugin: str, outside: Outside) -> None:
        self._source, self._limits, self._plugin, self._outside = source, limits, plugin, outside

    async def sections(self, scope: SessionScope) -> Sequence[Section]:
        """Ask the source."""
        limited = self._limits.scope(scope, self._plugin)
        return await self._outside.gather(f"{self._plugin} sections", lambda: self._source.sections(limited))

    async def after_compaction(self, scope: SessionScope, compacted: Compacted) -> Sequence[Section]:
        """Ask the source."""
        limited = self._limits.scope(scope, self._plugin)
        return await self._outside.gather(
            f"{self._plugin} after_compaction", lambda: self._source.after_compaction(limited, compacted)
        )

    async def reminders(self, scope: SessionScope, exchanged: Exchanged) -> Sequence[str]:
        """Ask the source."""
        limited = self._limits.scope(scope, self._plugin)
        return await self._outside.gather(
            f"{self._plugin} reminders", lambda: self._source.reminders(limited, exchanged)
        )


def context_sources(registry: Registry, warn: Callable[[str], None], outside: Outside | None = None) -> list[Source]:
    """Load the sources of the prompt; those of a package that does not declare `prompt` are left out, with a warning."""
    rules, sources = registry.manager.rules, list[Source]()
    limits = Limits(rules)
    for provided in registry.collect("context"):
        name = f"context/{provided.plugin}"
        declared = rules.declared(name)
        if declared is None or declared.prompt:
            reminds = type(provided.value).reminders is not ContextSource.reminders
            sources.append(
                Source(provided.plugin, LimitedSource(provided.value, limits, name, outside or Outside()), reminds)
            )
        else:
            warn(
                f"The context plugin {provided.plugin!r} ({provided.distribution}) adds nothing to the prompt: it does not "
                f"declare that it would. Its author writes into [capabilities] in {declared.file}: prompt = true"
            )
    return sources
