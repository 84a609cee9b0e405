"""What context plugins attach again once a conversation goes on from a summary."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from toolpost import tokens_in_text, without_middle
from toolpost_core.prompt.blocks import reminder
from toolpost_core.prompt.sections import SOURCE_LIMIT, only_sections

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from toolpost import Section, SessionScope
    from toolpost.prompt import Compacted
    from toolpost_core.prompt.sections import Source


async def attached(
    sources: Sequence[Source],
    scope: SessionScope,
    compacted: Compacted,
    report: Callable[[str], None],
    *,
    each: int,
    budget: int,
) -> list[str]:
    """Ask all sources at once; one that fails is reported and left out.

    A section has at most `each` tokens, all of them have `budget`: those that come later by their order are left out.
    """

    async def ask(named: Source) -> Sequence[Section]:
        try:
            async with asyncio.timeout(SOURCE_LIMIT):
                return only_sections(await named.source.after_compaction(scope, compacted))
        except Exception as error:
            report(f"The context plugin {named.plugin!r} attached nothing again after the compaction: {error!r}")
            return ()

    sections = [section for found in await asyncio.gather(*map(ask, sources)) for section in found]
    texts: list[str] = []
    for section in sorted(sections, key=lambda section: (section.order, section.name)):
        text = reminder(without_middle(section.text.strip(), each))
        budget -= tokens_in_text(text)
        if budget >= 0 and section.text.strip():
            texts.append(text)
    return texts
