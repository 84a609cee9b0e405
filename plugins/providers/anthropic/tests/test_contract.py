from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import pytest

from toolpost import Provider
from toolpost.testing import ProviderContract
from toolpost_provider_anthropic import Anthropic

from .conftest import Answer, Serve, rich_answer

REFUSAL = b'{"type": "error", "error": {"type": "invalid_request_error", "message": "max_tokens: too many"}}'


class Served(ProviderContract):
    @pytest.fixture(autouse=True)
    def _serve(self, serve: Serve) -> None:
        self._served = serve

    def serving(self) -> AbstractAsyncContextManager[Provider]:
        return self.cut_up(3)

    def cut_up(self, size: int) -> AbstractAsyncContextManager[Provider]:
        return self._answering(Answer(rich_answer(), cut=size))

    def failing(self) -> AbstractAsyncContextManager[Provider]:
        return self._answering(Answer(REFUSAL, status=400, headers={"content-type": "application/json"}))

    @asynccontextmanager
    async def _answering(self, answer: Answer) -> AsyncIterator[Provider]:
        async with self._served(answer):
            yield self.make()


class TestWire(Served):
    plugin = Anthropic(client="wire")


class TestSdk(Served):
    plugin = Anthropic(client="sdk")
