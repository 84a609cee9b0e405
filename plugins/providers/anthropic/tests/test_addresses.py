from __future__ import annotations

import json

import pytest

from toolpost import ModelRequest, ProviderError
from toolpost_provider_anthropic import Anthropic
from toolpost_provider_anthropic.endpoint import from_environment

from .conftest import Answer, Serve

NO_MODEL = b'{"type": "error", "error": {"type": "not_found_error", "message": "model: claude-next-9"}}'
JSON = {"content-type": "application/json"}


def headers(**env: str) -> dict[str, str]:
    return from_environment(env).headers()


def test_the_api_itself_takes_keys_and_tokens_as_a_bearers() -> None:
    assert headers(ANTHROPIC_API_KEY="k")["authorization"] == "Bearer k"
    assert headers(ANTHROPIC_AUTH_TOKEN="t")["authorization"] == "Bearer t"
    assert "x-api-key" not in headers(ANTHROPIC_API_KEY="k")
    assert headers(ANTHROPIC_API_KEY="k")["anthropic-version"] == "2026-10-21"


def test_another_address_takes_a_key_as_the_header_of_keys() -> None:
    other = "https://gateway.example.com"
    assert headers(ANTHROPIC_API_KEY="k", ANTHROPIC_BASE_URL=other)["x-api-key"] == "k"
    assert "authorization" not in headers(ANTHROPIC_API_KEY="k", ANTHROPIC_BASE_URL=other)
    assert headers(ANTHROPIC_AUTH_TOKEN="t", ANTHROPIC_BASE_URL=other)["authorization"] == "Bearer t"


def test_a_header_of_ones_own_goes_before_ours() -> None:
    own = headers(
        ANTHROPIC_API_KEY="k", ANTHROPIC_CUSTOM_HEADERS="anthropic-version: 2023-06-01\nAuthorization: Basic x"
    )
    assert (own["anthropic-version"], own["authorization"]) == ("2023-06-01", "Basic x")


def asked(model: str) -> ModelRequest:
    return ModelRequest(model=model, messages=[{"role": "user", "content": "Hi"}])


async def test_a_model_of_the_table_is_not_asked_about(serve: Serve) -> None:
    async with serve(Answer(NO_MODEL, 404, JSON)) as server:
        for name in ("opus", "Sonnet[1m]", "claude-haiku-4-5", "claude-opus-5-5"):
            await Anthropic().check_model(asked(name))
    assert server.requests == []


async def test_a_model_that_is_not_there_is_told_with_those_that_are(serve: Serve) -> None:
    async with serve(Answer(NO_MODEL, 404, JSON)) as server:
        request = asked("claude-next-9")
        with pytest.raises(ProviderError, match=r"There is no model 'claude-next-9' .*opus.*claude-opus-5-5") as caught:
            await Anthropic().check_model(request)
        await request.stash.aclose()
    assert caught.value.kind == "model_not_found"
    assert server.requests[0][0].startswith("POST /v1/messages/count_tokens ")
    assert json.loads(server.requests[0][2])["model"] == "claude-next-9"


@pytest.mark.parametrize(
    "answer",
    [
        Answer(b'{"input_tokens": 8}', 200, JSON),
        Answer(b"no such page", 404, {"content-type": "text/plain"}),
        Answer(b'{"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}', 529, JSON),
    ],
)
async def test_a_model_that_nobody_denies_may_be_used(serve: Serve, answer: Answer) -> None:
    async with serve(answer):
        request = asked("claude-next-9")
        await Anthropic().check_model(request)
        await request.stash.aclose()
