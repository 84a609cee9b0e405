"""Sessions whose window fills: what the mock reports and answers then, and what was sent to it."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import served_session
from mock_messages_api import MockMessagesApi, Request, error, tool_use

from toolpost_core.session.session import Session

FULL = {"input_tokens": 185_000, "output_tokens": 100}
"""What the mock reports where the window is to be full."""
TOO_LONG = error(400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum")
HANDOVER = "<summary>The user wants the sea counted.</summary>"
MODEL = "claude-sonnet-4-5-20250929"
"""A model with a window of 200,000 tokens."""


def opened(api: MockMessagesApi, project: Path, **options: Any) -> AbstractAsyncContextManager[Session]:
    """Open a session with the standard set and the mock as its service."""
    return served_session.opened(api, project, model=MODEL, **options)


async def compacted(session: Session, *instructions: str, **part: Any) -> Sequence[Any]:
    """Compact as /compact does; return the events."""
    return [event async for event in session.compact(*instructions, **part)]


def without(*plugins: str) -> str:
    """Return settings that turn plugins off."""
    return json.dumps({"plugins": dict.fromkeys(plugins, False)})


def read(path: Path) -> Any:
    """Return a call of Read."""
    return tool_use("Read", {"file_path": str(path)})


def pictures(count: int, size: int) -> list[Any]:
    """Return pictures whose data have so many bytes each."""
    data = base64.b64encode(b"\x89PNG\r\n\x1a\n" + os.urandom(size)).decode()
    return [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}] * count


def sent(request: Request) -> str:
    """Return the messages of a request."""
    return json.dumps(request.body["messages"])


def asks_for_summary(request: Request) -> bool:
    """Whether a request is a strategy's own."""
    return "<summary>" in json.dumps(request.body["messages"][-1])


def summaries(api: MockMessagesApi) -> list[Request]:
    """Return the requests for summaries."""
    return [request for request in api.requests if asks_for_summary(request)]
