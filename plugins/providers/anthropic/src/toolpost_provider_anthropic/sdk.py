"""The official client, for credentials that only it understands, and as the measure of our own."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from toolpost import ModelInfo, ModelRequest, ProviderError, StashKey, StreamEvent

from . import errors, network
from .body import encoder
from .endpoint import DEFAULT_URL
from .events import Decoder
from .wire import is_stream

if TYPE_CHECKING:
    import anthropic

    from .endpoint import Endpoint


async def answer(request: ModelRequest, info: ModelInfo, target: Endpoint) -> AsyncGenerator[StreamEvent]:
    """Yield one answer, with the same events as our own client."""
    client = await _client(request, target)
    decoder = Decoder()
    try:
        stream = await client.messages.create(**json.loads(encoder(request).body(request, info)))
        async with stream:
            headers = stream.response.headers
            if not is_stream(headers.get("content-type")):
                raise errors.not_a_stream(stream.response.status_code, headers, await stream.response.aread())
            async for event in stream:
                for made in decoder.feed(event.to_dict(mode="json", warnings=False)):
                    yield made
    except ProviderError:
        raise
    except Exception as error:
        raise _explained(error, target) from error
    for made in decoder.end():
        yield made


async def count_tokens(request: ModelRequest, info: ModelInfo, target: Endpoint) -> int | None:
    """Count the prompt's tokens; None where the address does not offer it."""
    client = await _client(request, target)
    try:
        counted = await client.messages.count_tokens(**json.loads(encoder(request).body_to_count(request, info)))
    except Exception as error:
        explained = _explained(error, target)
        if explained.status in (404, 405, 501):
            return None
        raise explained from error
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


def _explained(error: Exception, target: Endpoint) -> ProviderError:
    """Tell the official client's errors as our own does."""
    import anthropic
    import httpx2

    if isinstance(error, anthropic.APIStatusError):
        body = error.body
        inner = body.get("error") if isinstance(body, dict) else None
        status, headers = error.response.status_code, error.response.headers
        if isinstance(inner, dict):
            return errors.from_error(inner) if status == 200 else errors.from_error(inner, status, headers)
        return errors.from_response(status, headers, str(body or error.message).encode())
    if isinstance(error, anthropic.APIConnectionError) and isinstance(error.__cause__, Exception):
        error = error.__cause__
    if isinstance(error, httpx2.HTTPError | httpx2.InvalidURL):
        return network.from_transport(error, target.url)
    if isinstance(error, ValueError):
        return errors.malformed(f"an event is not JSON: {error}")
    return ProviderError(f"The official client failed: {error}", kind="unknown")
