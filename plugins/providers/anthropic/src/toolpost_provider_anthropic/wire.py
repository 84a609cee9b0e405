"""Our own client: the Messages API over httpx2."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from toolpost import ModelInfo, ModelRequest, StashKey, StreamEvent

from . import errors, network
from .body import encoder
from .events import Decoder
from .sse import Reader

if TYPE_CHECKING:
    import httpx2

    from .endpoint import Endpoint

CONNECT_TIMEOUT: Final = 30.0
KEEP_ALIVE: Final = 60.0
"""Seconds that an idle connection is kept: a tool's run should not cost a new handshake."""
LINGER: Final = 0.25
"""Seconds to wait for the end of a stream whose answer is complete, so that its connection can be used again."""


async def answer(request: ModelRequest, info: ModelInfo, target: Endpoint) -> AsyncGenerator[StreamEvent]:
    """Yield one answer. Raises ProviderError; closing it closes the connection."""
    import httpx2

    client = _connection(request).client(target)
    body = encoder(request).body(request, info)
    decoder, reader = Decoder(), Reader()
    try:
        async with client.stream(
            "POST", f"{target.url}/v1/messages", content=body, headers=target.headers, timeout=_timeout(target)
        ) as response:
            if response.status_code != 200 or not is_stream(response.headers.get("content-type")):
                raise _refusal(response, await response.aread())
            chunks = response.aiter_bytes()
            async for chunk in chunks:
                for _, data in reader.feed(chunk):
                    for event in decoder.feed_text(data):
                        yield event
                if decoder.done:
                    await _finish(chunks)
                    return
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise network.from_transport(error, target.url) from error
    for event in decoder.end():
        yield event


async def count_tokens(request: ModelRequest, info: ModelInfo, target: Endpoint) -> int | None:
    """Count the prompt's tokens; None where the address does not offer it. Raises ProviderError."""
    import httpx2

    body = encoder(request).body_to_count(request, info)
    url = f"{target.url}/v1/messages/count_tokens"
    try:
        client = _connection(request).client(target)
        response = await client.post(url, content=body, headers=target.headers, timeout=_timeout(target))
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise network.from_transport(error, target.url) from error
    if response.status_code in (404, 405, 501):
        return None
    if response.status_code != 200:
        raise errors.from_response(response.status_code, response.headers, response.content)
    try:
        return int(json.loads(response.content)["input_tokens"])
    except (ValueError, KeyError, TypeError):
        raise errors.not_a_stream(200, response.headers, response.content) from None


def is_stream(content_type: str | None) -> bool:
    """Whether an answer's content type is that of events; one without a type is tried."""
    return not content_type or content_type.lower().startswith("text/event-stream")


class Connection:
    """A session's HTTP clients, with TLS and without, each made for its first request; the session's stash closes them."""

    def __init__(self) -> None:
        self._clients: dict[bool, httpx2.AsyncClient] = {}

    def client(self, target: Endpoint) -> httpx2.AsyncClient:
        """Return the client that reaches the address."""
        client = self._clients.get(target.plain)
        if client is None:
            client = self._clients[target.plain] = _make_client(target.plain)
        return client

    async def aclose(self) -> None:
        """Close the connections."""
        while self._clients:
            _, client = self._clients.popitem()
            await client.aclose()


_CONNECTION: Final = StashKey[Connection]("anthropic.connection")


def _connection(request: ModelRequest) -> Connection:
    return request.stash.setdefault(_CONNECTION, Connection())


def _make_client(plain: bool) -> httpx2.AsyncClient:
    import httpx2

    limits = httpx2.Limits(keepalive_expiry=KEEP_ALIVE)
    if not plain:
        return httpx2.AsyncClient(limits=limits)
    import ssl

    # Loading the certificates takes longer than the request. Should TLS be spoken after all, this context trusts nobody.
    return httpx2.AsyncClient(limits=limits, trust_env=False, verify=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT))


def _timeout(target: Endpoint) -> httpx2.Timeout:
    import httpx2

    return httpx2.Timeout(target.timeout, connect=min(CONNECT_TIMEOUT, target.timeout), pool=None)


def _refusal(response: httpx2.Response, body: bytes) -> Exception:
    make = errors.not_a_stream if response.status_code == 200 else errors.from_response
    return make(response.status_code, response.headers, body)


async def _finish(chunks: AsyncIterator[bytes]) -> None:
    import httpx2

    with suppress(TimeoutError, httpx2.HTTPError):
        async with asyncio.timeout(LINGER):
            async for _ in chunks:
                pass
