"""`Http`: requests under the session's network rules."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Protocol

from toolpost._frozen import frozen


@frozen()
class HttpResponse:
    """An answer; `body` is cut at the caller's limit."""

    status: int
    url: str
    headers: Mapping[str, str]
    body: bytes


class Http(Protocol):
    """Requests over HTTP under the session's network rules."""

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
        """Send one request. Raises ToolFailed for a refused address, a network error or a time-out."""

    def stream(self, method: str, url: str, *, body: bytes | None = None) -> AsyncIterator[bytes]:
        """Send one request and yield its body as it comes."""
