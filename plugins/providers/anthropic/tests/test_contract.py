from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import pytest

from toolpost import Provider
from toolpost.testing import ProviderContract
from toolpost_provider_anthropic import Anthropic

from .conftest import Answer, Serve, rich_answer

TOO_LONG = "prompt is too long: 210000 tokens > 200000 maximum"


class Served(ProviderContract):
    @pytest.fixture(autouse=True)
    def _serve(self, serve: Serve) -> None:
        self._served = serve

    def serving(self) -> AbstractAsyncContextManager[Provider]:
        return self.cut_up(3)

    def cut_up(self, size: int) -> AbstractAsyncContextManager[Provider]:
        return self._answering(Answer(rich_answer(), cut=size))

    @asynccontextmanager
    async def hanging(self) -> AsyncIterator[tuple[Provider, asyncio.Event]]:
        async with self._served(Answer(rich_answer()[:-1000], hang=True)) as server:
            yield self.make(), server.gone

    def failures(self) -> Mapping[str, AbstractAsyncContextManager[Provider]]:
        answers = {
            "authentication_failed": refusal(401, "authentication_error", "invalid x-api-key"),
            "billing_error": refusal(400, "invalid_request_error", "Your credit balance is too low."),
            "connection": Answer(rich_answer()[:-1000], drop=True),
            "invalid_request": refusal(400, "invalid_request_error", "max_tokens: too many"),
            "model_not_found": refusal(404, "not_found_error", "model: claude-2030"),
            "overloaded": refusal(529, "overloaded_error", "Overloaded"),
            "prompt_too_long": refusal(400, "invalid_request_error", TOO_LONG),
            "rate_limit": refusal(429, "rate_limit_error", "Slow down."),
            "server_error": refusal(500, "api_error", "Internal server error"),
        }
        return {kind: self._answering(answer) for kind, answer in answers.items()}

    @asynccontextmanager
    async def _answering(self, answer: Answer) -> AsyncIterator[Provider]:
        async with self._served(answer):
            yield self.make()


class TestWire(Served):
    plugin = Anthropic(client="wire", max_retries=0)


class TestSdk(Served):
    plugin = Anthropic(client="sdk", max_retries=0)


def refusal(status: int, type: str, message: str) -> Answer:
    body: dict[str, Any] = {"type": "error", "error": {"type": type, "message": message}}
    return Answer(json.dumps(body).encode(), status=status, headers={"content-type": "application/json"})
