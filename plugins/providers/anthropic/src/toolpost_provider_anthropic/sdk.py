"""The official client, for credentials that only it understands, and as the measure of our own."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, aclosing
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from toolpost import ModelRequest, ProviderError, StashKey, StreamEvent

from . import errors, network
from .body import encoder
from .endpoint import BETA, DEFAULT_URL
from .exchange import Response, read
from .silence import Watch

if TYPE_CHECKING:
    import anthropic

    from .endpoint import Endpoint
    from .models import Model


async def answer(request: ModelRequest, model: Model, target: Endpoint) -> AsyncGenerator[StreamEvent]:
    """Yield one answer, with the same events as our own client: it brings the bytes, which are read here."""
    client = await _client(request, target)
    body = encoder(request).body(request, model)
    asked = client.messages.with_streaming_response.create(
        **json.loads(body), extra_headers=_betas(model, target), timeout=target.timeout
    )
    first = target.patience.before_the_first_byte(len(body)) if request.streaming else target.timeout
    try:
        async with AsyncExitStack() as stack:
            watch = stack.enter_context(Watch(target.patience, target.url))
            response = await watch.hear(stack.enter_async_context(asked), first)
            came = Response(response.status_code, response.headers, response.iter_bytes())
            async for event in await stack.enter_async_context(aclosing(read(came, watch))):
                yield event
    except ProviderError:
        raise
    except Exception as error:
        raise _explained(error, target) from error


async def count_tokens(request: ModelRequest, model: Model, target: Endpoint) -> int | None:
    """Count the prompt's tokens; None where the address does not offer it."""
    client = await _client(request, target)
    body = json.loads(encoder(request).body_to_count(request, model))
    try:
        counted = await client.messages.count_tokens(**body, extra_headers=_betas(model, target))
    except Exception as error:
        errors.raise_unless_uncounted(_explained(error, target), error)
        return None
    return int(counted.input_tokens)


class Client:
    """A session's official client; the session's stash closes it."""

    def __init__(self) -> None:
        self.client: Any = None
        self.lock = asyncio.Lock()

    async def aclose(self) -> None:
        """Close the connections."""
        if self.client is not None:
            client, self.client = self.client, None
            await client.close()


_CLIENT: Final = StashKey[Client]("anthropic.sdk")


async def _client(request: ModelRequest, target: Endpoint) -> Any:
    kept = request.stash.setdefault(_CLIENT, Client())
    async with kept.lock:
        if kept.client is None:
            # Its import takes seconds: the rest of the program goes on meanwhile.
            module = await asyncio.to_thread(import_module, "anthropic")
            kept.client = _made(module, target)
    return kept.client


def _made(module: Any, target: Endpoint) -> anthropic.AsyncAnthropic:
    credential = {"key": {"api_key": target.secret}, "token": {"auth_token": target.secret}, "other": {}}
    client: anthropic.AsyncAnthropic = module.AsyncAnthropic(
        **credential[target.credential],
        # A profile may name an address of its own.
        base_url=None if target.credential == "other" and target.url == DEFAULT_URL else target.url,
        timeout=target.timeout,
        max_retries=0,
        default_headers={**target.extra, "accept-encoding": "identity"},
    )
    return client


def _betas(model: Model, target: Endpoint) -> dict[str, str]:
    more = target.more(model.betas)
    return {BETA: more[BETA]} if model.betas else {}


def _explained(error: Exception, target: Endpoint) -> ProviderError:
    """Tell the official client's errors as our own does."""
    import anthropic
    import httpx2

    if isinstance(error, anthropic.APIStatusError):
        body = error.body
        inner = body.get("error") if isinstance(body, dict) else None
        status, headers = error.response.status_code, error.response.headers
        if isinstance(inner, dict):
            return errors.from_error(inner, status, headers)
        return errors.from_response(status, headers, str(body or error.message).encode())
    if isinstance(error, anthropic.APIConnectionError) and isinstance(error.__cause__, Exception):
        error = error.__cause__
    if isinstance(error, httpx2.HTTPError | httpx2.InvalidURL):
        return network.from_transport(error, target.url)
    return ProviderError(f"The official client failed: {error}", kind="unknown")
