"""The contract kit of search back ends, and an Http whose answers a test writes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar
from urllib.parse import urlsplit

import pytest

from toolpost.errors import ToolFailed
from toolpost.search import SearchHit
from toolpost.services import Http, HttpResponse
from toolpost.testing._contract import PluginContract, finish

_QUERY = "toolpost"


@dataclass
class FakeHttp:
    """An Http service that gives the same answer to every request and keeps the requests as (method, url, body)."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    requests: list[tuple[str, str, bytes | None]] = field(default_factory=list)

    async def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
        timeout: float = 30.0,
        limit: int = 10_000_000,
    ) -> HttpResponse:
        """Give the answer, cut at `limit`."""
        del headers, timeout
        self.requests.append((method, url, body))
        return HttpResponse(self.status, url, self.headers, self.body[:limit])

    async def stream(self, method: str, url: str, *, body: bytes | None = None) -> AsyncIterator[bytes]:
        """Give the answer in one piece."""
        self.requests.append((method, url, body))
        yield self.body


class SearchBackendContract(PluginContract):
    """The suite for a search back end. `body` is an answer of its service with at least two hits on two hosts."""

    group = "search_backends"
    body: ClassVar[bytes]

    def test_it_finds_the_hits_of_an_answer(self) -> None:
        """If this fails: read each hit's title and address from the service's answer; the model has nothing else."""
        hits = self._search()
        assert len(hits) >= 2
        assert all(hit.title and urlsplit(hit.url).scheme in ("http", "https") for hit in hits)

    def test_it_asks_the_service_for_the_query(self) -> None:
        """If this fails: send the query with `http`, in the address or the body, encoded as the service wants it."""
        http = FakeHttp(200, self.body)
        finish(self._ask(http))
        sent = [f"{url} {(body or b'').decode(errors='replace')}" for _, url, body in http.requests]
        assert any(_QUERY in text for text in sent), f"{_QUERY!r} is in none of the requests: {sent}"

    def test_blocked_and_allowed_domains_are_kept(self) -> None:
        """If this fails: filter the hits by host as well; a service may ignore what it was asked."""
        host = urlsplit(self._search()[0].url).hostname or ""
        assert [hit for hit in self._search(blocked=(host,)) if urlsplit(hit.url).hostname == host] == []
        assert {urlsplit(hit.url).hostname for hit in self._search(allowed=(host,))} == {host}

    def test_a_service_that_fails_is_a_failed_tool(self) -> None:
        """If this fails: raise ToolFailed for a status from 400 on and for one that can't be read; the model is told."""
        for http in (FakeHttp(500, b"oops"), FakeHttp(200, b"<not what was asked for")):
            with pytest.raises(ToolFailed):
                finish(self._ask(http))

    def _search(self, *, allowed: Sequence[str] = (), blocked: Sequence[str] = ()) -> Sequence[SearchHit]:
        return finish(self._ask(FakeHttp(200, self.body), allowed, blocked))

    async def _ask(self, http: Http, allowed: Sequence[str] = (), blocked: Sequence[str] = ()) -> Sequence[SearchHit]:
        hits: Sequence[SearchHit] = await self.make().search(
            _QUERY, http, allowed_domains=allowed, blocked_domains=blocked
        )
        return hits
