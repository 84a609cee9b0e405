from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import pytest

from toolpost import Provider
from toolpost.testing import ProviderContract
from toolpost_provider_anthropic import Anthropic

from .conftest import Answer, Serve, rich_answer


class Served(ProviderContract):
    @pytest.fixture(autouse=True)
    def _serve(self, serve: Serve) -> None:
        self._served = serve

    def serving(self) -> AbstractAsyncContextManager[Provider]:
        @asynccontextmanager
        async def server() -> AsyncIterator[Provider]:
            async with self._served(Answer(rich_answer(), cut=3)):
                yield self.make()

        return server()


class TestWire(Served):
    plugin = Anthropic(client="wire")


class TestSdk(Served):
    plugin = Anthropic(client="sdk")
