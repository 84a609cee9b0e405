"""The session's sources of the prompt, each with its own view of the session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolpost import ContextSource
from toolpost_core.prompt.sections import Source
from toolpost_core.session.declared import Limits

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from toolpost import Section, SessionScope
    from toolpost_core.plugins.registry import Registry


class LimitedSource(ContextSource):
    """A source that is asked with what its plugin may see."""

    def __init__(self, source: ContextSource, limits: Limits, plugin: str) -> None:
        self._source, self._limits, self._plugin = source, limits, plugin

    async def sections(self, scope: SessionScope) -> Sequence[Section]:
        """Ask the source."""
        return await self._source.sections(self._limits.scope(scope, self._plugin))


def context_sources(registry: Registry, warn: Callable[[str], None]) -> list[Source]:
    """Load the sources of the prompt; those of a package that does not declare `prompt` are left out, with a warning."""
    rules, sources = registry.manager.rules, list[Source]()
    limits = Limits(rules)
    for provided in registry.collect("context"):
        name = f"context/{provided.plugin}"
        declared = rules.declared(name)
        if declared is None or declared.prompt:
            sources.append(Source(provided.plugin, LimitedSource(provided.value, limits, name)))
        else:
            warn(
                f"The context plugin {provided.plugin!r} ({provided.distribution}) adds nothing to the prompt: it does not "
                f"declare that it would. Its author writes into [capabilities] in {declared.file}: prompt = true"
            )
    return sources
