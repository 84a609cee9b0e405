"""The prompt from its sections: static before dynamic, with marks where a cached prefix ends."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from toolpost import SystemBlock
from toolpost_core.prompt.base import BASE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from toolpost import ContextSource, Section, SessionScope

SOURCE_LIMIT: Final = 10.0
"""Seconds that a source may take: no prompt is sent before it."""


@dataclass(frozen=True)
class Source:
    """A context plugin with its name."""

    plugin: str
    source: ContextSource


@dataclass(frozen=True)
class Prompt:
    """The system prompt, and what goes before the first prompt of the user."""

    system: tuple[SystemBlock, ...]
    user: str
    sections: tuple[Section, ...] = ()


async def gather(sources: Sequence[Source], scope: SessionScope, report: Callable[[str], None]) -> tuple[Section, ...]:
    """Ask all sources at once; one that fails, or takes over 10 s, is reported and left out."""

    async def ask(named: Source) -> Sequence[Section]:
        clock = asyncio.timeout(SOURCE_LIMIT)
        try:
            async with clock:
                return await named.source.sections(scope)
        except Exception as error:
            how = f"gave no answer within {SOURCE_LIMIT:g} s: it" if clock.expired() else f"failed: {error!r}. It"
            report(f"The context plugin {named.plugin!r} {how} adds nothing to the prompt.")
            return ()

    answers = await asyncio.gather(*(ask(named) for named in sources))
    return tuple(section for sections in answers for section in sections)


def compose(sections: Sequence[Section], *, replaced_by: str | None = None, appended: str | None = None) -> Prompt:
    """Put the prompt together. `replaced_by` stands in the place of our own text, `appended` at the very end."""
    ordered = sorted((s for s in sections if s.text.strip()), key=lambda s: (s.order, s.name))
    static = [s.text.strip() for s in ordered if s.static and not s.user]
    dynamic = [s.text.strip() for s in ordered if not s.static and not s.user]
    if appended:
        dynamic.append(appended.strip())
    blocks = [SystemBlock("\n\n".join([(replaced_by or BASE).strip(), *static]), cache=True)]
    if dynamic:
        blocks.append(SystemBlock("\n\n".join(dynamic), cache=True))
    user = "\n\n".join(s.text.strip() for s in ordered if s.user)
    return Prompt(tuple(blocks), user, tuple(ordered))
