"""A model that says what it was told: for demos and tests."""

from collections.abc import AsyncIterator

from toolpost import ModelRequest, Provider, Stop, StreamEvent, TextDelta


class Echo(Provider):
    prefix: str = ""

    async def stream(self, request: ModelRequest) -> AsyncIterator[StreamEvent]:
        yield TextDelta(self.prefix + request.last_text)
        yield Stop("end_turn")
