"""One answer, read from whichever client has the connection."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
from contextlib import aclosing, suppress
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from . import errors
from .events import Decoder
from .sse import Reader

if TYPE_CHECKING:
    from toolpost import StreamEvent

    from .silence import Watch

LINGER: Final = 0.25
"""Seconds to wait for the end of a stream whose answer is complete, so that its connection can be used again."""


class Response(NamedTuple):
    """An answer whose head has come; header names are lower case."""

    status: int
    headers: Mapping[str, str]
    chunks: AsyncGenerator[bytes]


async def read(response: Response, watch: Watch) -> AsyncGenerator[StreamEvent]:
    """Yield an answer, whether it comes as a stream of events or in one piece. Raises ProviderError."""
    async with aclosing(response.chunks) as chunks:
        if response.status == 200 and _is_stream(response.headers):
            async for event in _streamed(chunks, watch):
                yield event
            return
        body = await _all(chunks, watch)
    if response.status != 200:
        raise errors.from_response(response.status, response.headers, body)
    for event in _whole(response, body):
        yield event


async def _streamed(chunks: AsyncIterator[bytes], watch: Watch) -> AsyncGenerator[StreamEvent]:
    decoder, reader = Decoder(), Reader()
    while (chunk := await watch.hear(anext(chunks, None))) is not None:
        for name, data in reader.feed(chunk):
            if name != "ping":
                watch.event()
            for event in decoder.feed_text(data):
                yield event
        if decoder.done:
            await _finish(chunks)
            return
    for event in decoder.end():
        yield event


async def _all(chunks: AsyncIterator[bytes], watch: Watch) -> bytes:
    parts = []
    while (chunk := await watch.hear(anext(chunks, None))) is not None:
        parts.append(chunk)
    return b"".join(parts)


def _whole(response: Response, body: bytes) -> Iterator[StreamEvent]:
    """Yield the events of a message that came in one piece."""
    try:
        message = json.loads(body)
        # Some gateways answer everything with 200.
        if message["type"] == "error" and isinstance(message["error"], dict):
            raise errors.from_error(message["error"], headers=response.headers)
        content = message["content"]
        if message["type"] != "message" or not isinstance(content, list):
            raise errors.not_an_answer(response.status, response.headers, body)
    except (ValueError, KeyError, TypeError):
        raise errors.not_an_answer(response.status, response.headers, body) from None
    decoder = Decoder()
    for event in _as_events(message, content):
        yield from decoder.feed(event)


def _as_events(message: Mapping[str, Any], content: list[Any]) -> Iterator[Mapping[str, Any]]:
    yield {"type": "message_start", "message": message}
    for index, block in enumerate(content):
        yield {"type": "content_block_start", "index": index, "content_block": block}
        yield {"type": "content_block_stop", "index": index}
    yield {"type": "message_delta", "delta": {"stop_reason": message.get("stop_reason")}, "usage": message.get("usage")}
    yield {"type": "message_stop"}


def _is_stream(headers: Mapping[str, str]) -> bool:
    """Whether the content type is that of events; an answer without a type is tried."""
    kind = headers.get("content-type")
    return not kind or kind.lower().startswith("text/event-stream")


async def _finish(chunks: AsyncIterator[bytes]) -> None:
    """Read to the end of the body, for a moment."""
    with suppress(Exception):  # the answer is complete, so that whatever fails here is nobody's loss
        async with asyncio.timeout(LINGER):
            async for _ in chunks:
                pass
