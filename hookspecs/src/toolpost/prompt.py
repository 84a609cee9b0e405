"""Context plugins: sections of the system prompt, and what goes before a person's prompt."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from toolpost._hooks import hookimpl
from toolpost._plugin import Plugin

if TYPE_CHECKING:
    from toolpost.session import SessionScope


@dataclass(frozen=True, kw_only=True)
class Section:
    """A part of the prompt.

    Static sections come first and are the same for every session on a machine; the others follow. Both are computed
    once a session, and again after /clear and compaction; `volatile` ones before each request, which costs the prompt
    cache: `why_volatile` must say why. Within its group a section stands by `order`, then by name. `user` sections go
    before the first prompt instead, for text that comes from the workspace.
    """

    name: str
    text: str
    order: int = 100
    static: bool = False
    user: bool = False
    volatile: bool = False
    why_volatile: str = ""
    source: str = ""


class ContextSource(Plugin, ABC):
    """Adds sections to the prompt.

    class Motto(ContextSource):
        async def sections(self, scope: SessionScope) -> Sequence[Section]:
            return (Section(name="motto", text="Measure twice, cut once."),)
    """

    @abstractmethod
    async def sections(self, scope: SessionScope) -> Sequence[Section]:
        """Return the sections. Sources are asked at the same time; one that raises is reported and left out."""

    @hookimpl(specname="context")
    def _context(self) -> Sequence[ContextSource]:
        return (self,)
