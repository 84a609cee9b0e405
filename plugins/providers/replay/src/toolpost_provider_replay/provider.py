"""The provider that plays a cassette."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import ClassVar, Final

from toolpost import ModelInfo, ModelRequest, Price, Provider, ProviderError, StashKey, StreamEvent

from .answers import Answer, plan
from .cassette import Cassette, read
from .conversation import Conversation

FREE: Final = Price(
    input=0, output=0, cache_write=0, cache_read=0, as_of=date(2026, 11, 30), source="a recorded model costs nothing"
)


class Replay(Provider):
    """Plays a cassette: each request of a session gets the next answer.

    `speed` divides the recorded pauses; 0 leaves them out. `cwd` is what {{cwd}} stands for, the current folder where
    it is not set; a relative `cassette` is looked for there too.
    """

    default_model: ClassVar[str] = "replay"

    cassette: Path | None = None
    speed: float = 1.0
    cwd: Path | None = None

    async def stream(self, request: ModelRequest) -> AsyncIterator[StreamEvent]:
        """Play the next answer. Raises ProviderError, with file and line, where there is none that can be played."""
        place = request.stash.get(_PLACE, None) or self._begin(request)
        conversation = Conversation(request, self._folder())
        answer = place.take(conversation)
        played = 0.0
        for step in plan(answer, conversation, request):
            if self.speed > 0 and step.at > played:
                await asyncio.sleep((step.at - played) / self.speed)
                played = step.at
            if isinstance(step.event, ProviderError):
                raise step.event
            yield step.event

    def unusable(self, env: Mapping[str, str]) -> str | None:
        """Say that no cassette is set, or that it is not there."""
        del env
        if self.cassette is None:
            return (
                'No cassette is set. Name one in settings.json: {"plugins": {"replay": {"config": {"cassette": '
                '"FILE.jsonl"}}}}, or see one play: toolpost demo.'
            )
        path = self._path(self.cassette)
        return None if path.is_file() else f"The cassette {str(path)!r} is not there. Check its name."

    def model(self, name: str) -> ModelInfo:
        """Take any name: it costs nothing."""
        return ModelInfo(id=name, price=FREE)

    def models(self) -> Sequence[ModelInfo]:
        """The one name that stands for the recording."""
        return (self.model(self.default_model),)

    def _begin(self, request: ModelRequest) -> _Place:
        if self.cassette is None:
            raise ProviderError(str(self.unusable({})), kind="invalid_request")
        place = _Place(read(self._path(self.cassette)))
        request.stash[_PLACE] = place
        return place

    def _path(self, cassette: Path) -> Path:
        return self._folder() / cassette.expanduser()

    def _folder(self) -> Path:
        return self.cwd if self.cwd is not None else Path.cwd()


@dataclass
class _Place:
    """How far a session has come in its cassette."""

    cassette: Cassette
    position: int = 0
    requests: int = 0

    def take(self, conversation: Conversation) -> Answer:
        """Return the next answer whose condition holds, and go on behind it."""
        answers, path = self.cassette.answers, self.cassette.path
        self.requests += 1
        for index in range(self.position, len(answers)):
            answer = answers[index]
            if answer.when is None or conversation.last_result_matches(answer.when):
                self.position = self.cassette.names[answer.next] if answer.next is not None else index + 1
                return answer
        if self.position < len(answers):
            raise ProviderError(
                f"{path}:{answers[self.position].line}: no answer from here on fits the last tool result, which is "
                f"{(conversation.results or ['missing'])[-1][:200]!r}. Add one without `when`.",
                kind="invalid_request",
            )
        raise ProviderError(
            f"{path}: the cassette has run out: this is request {self.requests} of the session, and there is no answer "
            f"left of the {len(answers)}. Add one, or let one lead back with `next`.",
            kind="invalid_request",
        )


_PLACE: Final = StashKey["_Place | None"]("replay.place")
