"""Search back ends: where a web search is asked."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from toolpost._frozen import frozen
from toolpost._hooks import hookimpl
from toolpost._plugin import Plugin

if TYPE_CHECKING:
    from toolpost.services import Http


@frozen()
class SearchHit:
    """One result."""

    title: str
    url: str
    snippet: str = ""


class SearchBackend(Plugin, ABC):
    """Answers web searches."""

    def unusable(self, env: Mapping[str, str]) -> str | None:
        """Say what is missing, such as a key; None if nothing."""
        del env
        return None

    @abstractmethod
    async def search(
        self, query: str, http: Http, *, allowed_domains: Sequence[str] = (), blocked_domains: Sequence[str] = ()
    ) -> Sequence[SearchHit]:
        """Return hits, best first. Raises ToolFailed."""

    @hookimpl(specname="search_backends")
    def _search_backends(self) -> Sequence[SearchBackend]:
        return (self,)
