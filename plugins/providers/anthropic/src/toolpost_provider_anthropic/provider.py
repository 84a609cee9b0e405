"""The provider: which client answers, with what credential, and what is tried again."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from typing import ClassVar, Literal

from toolpost import ModelInfo, ModelRequest, Provider, ProviderError, StreamEvent

from . import endpoint, models, sdk, wire
from .retry import with_retries


class Anthropic(Provider):
    """Asks Claude through the Messages API.

    `client` is "wire" (our own small client), "sdk" (the official one, whose import takes seconds), or "auto": wire,
    except for credentials that only the official client understands. `base_url` goes before ANTHROPIC_BASE_URL.
    `max_retries` counts what is sent again after a failure that may pass.
    """

    default_model: ClassVar[str] = models.DEFAULT

    client: Literal["auto", "wire", "sdk"] = "auto"
    base_url: str | None = None
    max_retries: int = 10

    async def stream(self, request: ModelRequest) -> AsyncIterator[StreamEvent]:
        """Ask the model; what fails before any of the answer was yielded is tried again, visibly."""
        target = self._endpoint(os.environ if request.env is None else request.env)
        answer = sdk.answer if self._uses_sdk(target) else wire.answer
        info = self.model(request.model)
        async with aclosing(with_retries(lambda: answer(request, info, target), self.max_retries)) as events:
            async for event in events:
                yield event

    def unusable(self, env: Mapping[str, str]) -> str | None:
        """Say which variables would hold a key."""
        if self.credential_source(env) != "none":
            return None
        return (
            "No key for the Anthropic API. Set ANTHROPIC_API_KEY (or ANTHROPIC_AUTH_TOKEN), or "
            "ANTHROPIC_PROFILE to use a profile of the official client."
        )

    def credential_source(self, env: Mapping[str, str]) -> str:
        """Name the environment variable that the credential comes from."""
        return endpoint.credential_source(env, keys_only=self.client == "wire")

    def small_model(self, env: Mapping[str, str]) -> str:
        """Name the model of ANTHROPIC_DEFAULT_HAIKU_MODEL or ANTHROPIC_SMALL_FAST_MODEL, or haiku."""
        return env.get("ANTHROPIC_DEFAULT_HAIKU_MODEL") or env.get("ANTHROPIC_SMALL_FAST_MODEL") or "haiku"

    def model(self, name: str) -> ModelInfo:
        """Resolve opus, sonnet, haiku, fable or an id; the suffix [1m] is left out."""
        return models.find(name)

    def models(self) -> Sequence[ModelInfo]:
        """The models of the price table."""
        return models.MODELS

    async def count_tokens(self, request: ModelRequest) -> int | None:
        """Count the prompt's tokens; None where the address does not offer it."""
        target = self._endpoint(os.environ if request.env is None else request.env)
        info = self.model(request.model)
        if target.credential == "other":
            return await sdk.count_tokens(request, info, target)
        return await wire.count_tokens(request, info, target)

    def _endpoint(self, env: Mapping[str, str]) -> endpoint.Endpoint:
        missing = self.unusable(env)
        if missing is not None:
            raise ProviderError(missing, kind="authentication_failed")
        return endpoint.from_environment(env, self.base_url)

    def _uses_sdk(self, target: endpoint.Endpoint) -> bool:
        return self.client == "sdk" or (self.client == "auto" and target.credential == "other")
