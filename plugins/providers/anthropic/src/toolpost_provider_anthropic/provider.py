"""The provider: which client answers, with what credential, and what is tried again."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias

from toolpost import ModelInfo, ModelRequest, Provider, ProviderError, StreamEvent

from . import endpoint, errors, models, patience, sdk, wire
from .mending import with_mending
from .retry import Retries, with_retries

if TYPE_CHECKING:
    Answering: TypeAlias = Callable[[ModelRequest, models.Model, endpoint.Endpoint], AsyncGenerator[StreamEvent]]


class Anthropic(Provider):
    """Asks Claude through the Messages API.

    `client` is "wire" (our own small client), "sdk" (the official one, whose import takes seconds), or "auto": wire,
    except for credentials that only the official client understands. `base_url` goes before ANTHROPIC_BASE_URL.
    `max_retries` counts what is sent again after a failure that may pass; TOOLPOST_MAX_RETRIES goes before it.
    """

    default_model: ClassVar[str] = models.DEFAULT

    client: Literal["auto", "wire", "sdk"] = "auto"
    base_url: str | None = None
    max_retries: int = patience.RETRIES

    async def stream(self, request: ModelRequest) -> AsyncIterator[StreamEvent]:
        """Ask the model; what fails before any of the answer was yielded is tried again, visibly."""
        env = os.environ if request.env is None else request.env
        target, model = self._endpoint(env), models.find(request.model)
        retries = Retries.of(request, patience.retries(env, self.max_retries))
        client = self._client(target)

        def ask(asked: ModelRequest) -> AsyncGenerator[StreamEvent]:
            return with_retries(partial(client, asked, model, target), retries)

        async with aclosing(with_mending(ask, request, model)) as events:
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
        """Resolve opus, sonnet, haiku, fable or an id, with or without the suffix [1m]."""
        return models.find(name).info

    def models(self) -> Sequence[ModelInfo]:
        """The models of the price table."""
        return models.MODELS

    async def check_model(self, request: ModelRequest) -> None:
        """Ask the service for the tokens of a word, where the model is not in the table."""
        if models.is_known(request.model):
            return
        try:
            await self.count_tokens(request)
        except ProviderError as error:
            if errors.names_model(error):
                known = ", ".join((*models.ALIASES, *(info.id for info in self.models())))
                raise ProviderError(
                    f"There is no model {request.model!r} for this key. Known are {known}.",
                    kind=error.kind,
                    status=error.status,
                    details=error.details,
                ) from error

    async def count_tokens(self, request: ModelRequest) -> int | None:
        """Count the prompt's tokens; None where the address does not offer it."""
        target = self._endpoint(os.environ if request.env is None else request.env)
        count = sdk.count_tokens if target.credential == "other" else wire.count_tokens
        return await count(request, models.find(request.model), target)

    def _endpoint(self, env: Mapping[str, str]) -> endpoint.Endpoint:
        missing = self.unusable(env)
        if missing is not None:
            raise ProviderError(missing, kind="authentication_failed")
        return endpoint.from_environment(env, self.base_url)

    def _client(self, target: endpoint.Endpoint) -> Answering:
        by_sdk = self.client == "sdk" or (self.client == "auto" and target.credential == "other")
        return sdk.answer if by_sdk else wire.answer
