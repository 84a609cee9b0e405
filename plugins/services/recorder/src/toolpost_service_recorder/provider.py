"""Providers: one that keeps its answers, and one that has them from a recording."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, cast

from toolpost import ModelInfo, Provider, ProviderError

from .values import decoded, decoded_error, encoded, encoded_error

if TYPE_CHECKING:
    from toolpost import ModelRequest, StreamEvent

    from .playing import Playing
    from .recording import Recording


class KeptProvider(Provider):
    """A provider whose answers are kept."""

    def __init__(self, provider: Provider, recording: Recording) -> None:
        object.__setattr__(self, "_real", provider)
        object.__setattr__(self, "_recording", recording)

    _real: Provider
    _recording: Recording

    @property
    def default_model(self) -> str:  # type: ignore[override]  # a constant of each provider's class
        """The provider's own."""
        return self._recording.fact("default_model", self._real.default_model)

    async def stream(self, request: ModelRequest) -> AsyncIterator[StreamEvent]:
        """Keep the request and each event of its answer."""
        recording, number = self._recording, self._recording.asked(request)
        try:
            async with aclosing(cast("Any", self._real.stream(request))) as events:
                async for event in events:
                    recording.put({"e": "piece", "answer": number, "event": encoded(event)})
                    yield event
        except Exception as error:
            recording.put({"e": "broke", "answer": number, "error": encoded_error(error)})
            raise
        recording.put({"e": "done", "answer": number})

    def unusable(self, env: Mapping[str, str]) -> str | None:
        """Ask the provider."""
        return self._real.unusable(env)

    def credential_source(self, env: Mapping[str, str]) -> str:
        """Keep where the key comes from."""
        return self._recording.fact("credential_source", self._real.credential_source(env))

    def small_model(self, env: Mapping[str, str]) -> str:
        """Keep the name."""
        return self._recording.fact("small_model", self._real.small_model(env))

    def model(self, name: str) -> ModelInfo:
        """Keep what is known of the model."""
        return self._recording.fact(f"model {name}", self._real.model(name))

    def models(self) -> Sequence[ModelInfo]:
        """Ask the provider."""
        return self._real.models()

    async def check_model(self, request: ModelRequest) -> None:
        """Keep what the provider says of a model."""
        try:
            await self._real.check_model(request)
        except Exception as error:
            self._recording.put({"e": "checked", "error": encoded_error(error)})
            raise
        self._recording.put({"e": "checked", "error": None})

    async def count_tokens(self, request: ModelRequest) -> int | None:
        """Keep the number."""
        count = await self._real.count_tokens(request)
        self._recording.put({"e": "count", "tokens": count})
        return count


class PlayedProvider(Provider):
    """Answers from a recording. `facts` are what was known of the provider and its models."""

    def __init__(self, playing: Playing, facts: Mapping[str, Any]) -> None:
        object.__setattr__(self, "_playing", playing)
        object.__setattr__(self, "_facts", facts)

    _playing: Playing
    _facts: Mapping[str, Any]

    @property
    def default_model(self) -> str:  # type: ignore[override]  # a constant of each provider's class
        """The recorded provider's own."""
        return str(self._facts.get("default_model", "default"))

    async def stream(self, request: ModelRequest) -> AsyncIterator[StreamEvent]:
        """Return the recorded answer. Raises ProviderError where there is none, and where it broke off."""
        number = await self._playing.answer_to(request)
        while number is not None:
            entry = await self._playing.piece_of(number)
            if entry is None:
                break
            if entry["e"] == "done":
                return
            if entry["e"] == "broke":
                raise decoded_error(entry["error"])
            yield decoded(entry["event"])
        raise ProviderError("The recording has no answer to this request.")

    def credential_source(self, env: Mapping[str, str]) -> str:
        """Return where the key came from."""
        del env
        return str(self._facts.get("credential_source", "none"))

    def small_model(self, env: Mapping[str, str]) -> str:
        """Return the recorded name."""
        del env
        return str(self._facts.get("small_model", ""))

    def model(self, name: str) -> ModelInfo:
        """Return what was known of the model."""
        found: ModelInfo | None = self._facts.get(f"model {name}")
        return found if found is not None else ModelInfo(id=name)

    async def check_model(self, request: ModelRequest) -> None:
        """Say of a model what was said then. Raises ProviderError."""
        del request
        error = await self._playing.checked()
        if error is not None:
            raise decoded_error(error)

    async def count_tokens(self, request: ModelRequest) -> int | None:
        """Return the recorded number."""
        del request
        return await self._playing.counted()
