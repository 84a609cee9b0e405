"""The sections of the prompt, as context plugins give them."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from toolpost import ContextSource, Section, SessionScope

SOURCE_LIMIT: Final = 10.0
"""Seconds that a source may take: no prompt is sent before it."""


class Source(NamedTuple):
    """A context plugin with its name; `reminds` says whether it has something to tell while a conversation goes on."""

    plugin: str
    source: ContextSource
    reminds: bool = True


class Found(NamedTuple):
    """A section, and the plugin that it comes from."""

    plugin: str
    section: Section


def only_sections(given: Sequence[object]) -> tuple[Section, ...]:
    """Return what a source gave. Raises TypeError where that is anything but sections with texts."""
    from toolpost import Section

    sections = tuple(one for one in given if isinstance(one, Section) and isinstance(one.text, str))
    if len(sections) != len(given):
        raise TypeError(f"{given!r:.80} is no list of sections")
    return sections


async def gather(sources: Sequence[Source], scope: SessionScope, report: Callable[[str], None]) -> tuple[Found, ...]:
    """Ask all sources at once; one that fails, or takes over 10 s, is reported and left out."""

    async def ask(named: Source) -> Sequence[Section]:
        clock = asyncio.timeout(SOURCE_LIMIT)
        try:
            async with clock:
                return only_sections(await named.source.sections(scope))
        except Exception as error:
            how = f"gave no answer within {SOURCE_LIMIT:g} s: it" if clock.expired() else f"failed: {error!r}. It"
            report(f"The context plugin {named.plugin!r} {how} adds nothing to the prompt.")
            return ()

    answers = await asyncio.gather(*(ask(named) for named in sources))
    return tuple(
        Found(named.plugin, section) for named, sections in zip(sources, answers, strict=True) for section in sections
    )


async def renewed(
    found: Sequence[Found], sources: Sequence[Source], scope: SessionScope, report: Callable[[str], None]
) -> tuple[Found, ...]:
    """Return the sections, those that are volatile as their sources give them now; the others stay as they were."""
    plugins = {one.plugin for one in found if one.section.volatile}
    asked = await gather([source for source in sources if source.plugin in plugins], scope, report)
    return (
        *(one for one in found if not one.section.volatile),
        *(one for one in asked if one.section.volatile),
    )
