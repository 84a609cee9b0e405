"""Context plugins: sections of the system prompt, and what goes before a person's prompt."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from toolpost._frozen import frozen
from toolpost._hooks import hookimpl
from toolpost._plugin import Plugin

if TYPE_CHECKING:
    from toolpost.messages import Message
    from toolpost.session import SessionScope


@frozen(kw_only=True)
class Section:
    """A part of the prompt.

    Static sections come first and are the same for every session on a machine; the others follow. Both are computed
    once a conversation, and again after /clear and compaction; `volatile` ones before each request, which costs the
    prompt cache: `why_volatile` must say why it is worth that. Within its group a section stands by `order`, then by name.
    `user` sections go before the first prompt instead, for text that comes from the workspace. `source` is the file that
    the text comes from, if it is one. Raises ValueError for a volatile section without a reason, and for one that is
    static or a user's as well.
    """

    name: str
    text: str
    order: int = 100
    static: bool = False
    user: bool = False
    volatile: bool = False
    why_volatile: str = ""
    source: str = ""

    def __post_init__(self) -> None:
        """Refuse what would cost the cache without saying so, or could not be made anew where it stands."""
        if self.volatile and not self.why_volatile.strip():
            raise ValueError(
                f"The section {self.name!r} is volatile, which costs the prompt cache with each request, and does not say "
                "why: set why_volatile, or leave volatile out"
            )
        if self.volatile and (self.static or self.user):
            other = "static" if self.static else "user"
            raise ValueError(f"The section {self.name!r} is volatile and {other}: it can be only one of them")


@frozen(kw_only=True)
class Compacted:
    """A conversation that goes on from a summary: the messages `before`, and those that are `left`."""

    before: Sequence[Message]
    left: Sequence[Message]


class Exchanged(NamedTuple):
    """A conversation as the next request will send it; `new` are the messages at its end that the model has not read."""

    messages: Sequence[Message]
    new: Sequence[Message]


class ContextSource(Plugin, ABC):
    """Adds sections to the prompt.

    class Motto(ContextSource):
        async def sections(self, scope: SessionScope) -> Sequence[Section]:
            return (Section(name="motto", text="Measure twice, cut once."),)
    """

    @abstractmethod
    async def sections(self, scope: SessionScope) -> Sequence[Section]:
        """Return the sections. Sources are asked at the same time; one that raises is reported and left out."""

    async def after_compaction(self, scope: SessionScope, compacted: Compacted) -> Sequence[Section]:
        """Return what the model needs again once the conversation goes on from a summary: a plan, a skill in use, a file.

        Each section becomes a reminder, cut where it is long; those that come first by their order go in while there is
        room.
        """
        del scope, compacted
        return ()

    async def reminders(self, scope: SessionScope, exchanged: Exchanged) -> Sequence[str]:
        """Return what the model should be told now, where the sections must not change for it: it would cost the cache.

        Asked before each request but the first. Each text goes to the end of the conversation as a reminder and stays
        there.
        """
        del scope, exchanged
        return ()

    @hookimpl(specname="context")
    def _context(self) -> Sequence[ContextSource]:
        return (self,)
