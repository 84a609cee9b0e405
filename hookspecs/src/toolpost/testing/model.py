"""`FakeModel`: a provider whose answers a test writes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from typing import TypeAlias, cast

from toolpost.errors import ProviderError
from toolpost.providers import (
    Block,
    InputDelta,
    MessageStart,
    ModelRequest,
    Provider,
    Retrying,
    Stop,
    StreamEvent,
    TextDelta,
    ThinkingDelta,
    ToolUse,
    ToolUseStart,
    Usage,
)

Piece: TypeAlias = str | StreamEvent | Exception
Turn: TypeAlias = Piece | Sequence[Piece]
_EVENTS = (MessageStart, TextDelta, ThinkingDelta, ToolUseStart, InputDelta, Block, ToolUse, Retrying, Stop)


class FakeModel(Provider):
    """Answers the n-th request with the n-th turn, and keeps the requests.

    A turn is a text, a `ToolUse`, any other stream event, an exception to raise, or a list of these. What the wire would
    also have is added where the turn does not have it: a MessageStart, and a Stop with reason tool_use or end_turn.

        model = FakeModel(ToolUse("toolu_1", "Read", {"file_path": "a.txt"}), "Done.")
    """

    default_model = "fake-model"

    def __init__(self, *turns: Turn) -> None:
        self.turns = turns
        self.requests: list[ModelRequest] = []

    async def stream(self, request: ModelRequest) -> AsyncIterator[StreamEvent]:
        """Play the next turn; raises ProviderError where none is left."""
        index = len(self.requests)
        self.requests.append(request)
        if index >= len(self.turns):
            raise ProviderError(f"FakeModel has {len(self.turns)} turns and was asked for turn {index + 1}.")
        for piece in _complete(self.turns[index], index):
            if isinstance(piece, Exception):
                raise piece
            yield piece


def _complete(turn: Turn, index: int) -> Iterator[StreamEvent | Exception]:
    # A stream event is a tuple too, and one piece.
    single = isinstance(turn, (str, Exception, *_EVENTS))
    pieces = cast("Sequence[Piece]", [turn] if single else turn)
    if not pieces or not isinstance(pieces[0], MessageStart | Exception):
        yield MessageStart(f"msg_fake_{index + 1}", FakeModel.default_model, Usage(input_tokens=10))
    for piece in pieces:
        yield TextDelta(piece) if isinstance(piece, str) else piece
    if not any(isinstance(piece, Stop | Exception) for piece in pieces):
        called = any(isinstance(piece, ToolUse) for piece in pieces)
        yield Stop("tool_use" if called else "end_turn", Usage(input_tokens=10, output_tokens=5))
