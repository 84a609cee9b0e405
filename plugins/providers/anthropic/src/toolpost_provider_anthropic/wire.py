"""Our own client: the Messages API over httpx2."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, aclosing
from typing import TYPE_CHECKING, Final

from toolpost import ModelRequest, StashKey, StreamEvent

from . import errors, network
from .body import encoder
from .exchange import Response, read
from .silence import Watch

if TYPE_CHECKING:
    import httpx2

    from .endpoint import Endpoint
    from .models import Model

CONNECT_TIMEOUT: Final = 30.0
KEEP_ALIVE: Final = 60.0
"""Seconds that an idle connection is kept: a tool's run should not cost a new handshake."""


async def answer(request: ModelRequest, model: Model, target: Endpoint) -> AsyncGenerator[StreamEvent]:
    """Yield one answer. Raises ProviderError; closing it closes the connection."""
    import httpx2

    client = _connection(request).client(target)
    body = encoder(request).body(request, model)
    asked = client.stream(
        "POST",
        f"{target.url}/v1/messages",
        content=body,
        headers=target.headers(model.betas),
        timeout=_timeout(target),
    )
    first = target.patience.before_the_first_byte(len(body)) if request.streaming else target.timeout
    try:
        async with AsyncExitStack() as stack:
            watch = stack.enter_context(Watch(target.patience, target.url))
            response = await watch.hear(stack.enter_async_context(asked), first)
            came = Response(response.status_code, response.headers, response.aiter_bytes())
            async for event in await stack.enter_async_context(aclosing(read(came, watch))):
                yield event
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise network.from_transport(error, target.url) from error


async def count_tokens(request: ModelRequest, model: Model, target: Endpoint) -> int | None:
    """Count the prompt's tokens; None where the address does not offer it. Raises ProviderError."""
    import httpx2

    body = encoder(request).body_to_count(request, model)
    url = f"{target.url}/v1/messages/count_tokens"
    try:
        client = _connection(request).client(target)
        response = await client.post(url, content=body, headers=target.headers(model.betas), timeout=_timeout(target))
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise network.from_transport(error, target.url) from error
    if response.status_code != 200:
        errors.raise_unless_uncounted(errors.from_response(response.status_code, response.headers, response.content))
        return None
    try:
        return int(json.loads(response.content)["input_tokens"])
    except (ValueError, KeyError, TypeError):
        raise errors.not_an_answer(200, response.headers, response.content) from None


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
