from __future__ import annotations

from typing import Any

import pytest

from toolpost import ModelRequest, ProviderError, Retrying
from toolpost_provider_anthropic import Anthropic
from toolpost_provider_anthropic.errors import from_error

from .conftest import Answer, Serve, sse, start, text_answer

JSON = {"content-type": "application/json", "retry-after": "0"}
BUSY = Answer(b'{"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}', 529, JSON)
LIMITED = Answer(b'{"type": "error", "error": {"type": "rate_limit_error", "message": "Slow down"}}', 429, JSON)


async def tries(serve: Serve, *answers: Answer, **fields: Any) -> tuple[list[Retrying], ProviderError | None, int]:
    """Return the waits, the failure if there was one, and the number of requests."""
    retried, failure = [], None
    async with serve(*answers) as server:
        asked = ModelRequest(model="sonnet", messages=[{"role": "user", "content": "Hi"}], **fields)
        try:
            async for event in Anthropic(max_retries=6).stream(asked):
                if isinstance(event, Retrying):
                    retried.append(event)  # noqa: PERF401 - what came before a failure counts
        except ProviderError as error:
            failure = error
        await asked.stash.aclose()
        return retried, failure, len(server.requests)


async def test_an_overloaded_model_is_asked_as_often_as_any_where_no_other_is_to_be_asked(serve: Serve) -> None:
    retried, failure, asked = await tries(serve, BUSY)
    assert failure is not None
    assert (failure.kind, asked) == ("overloaded", 7)
    assert [(event.attempt, event.of) for event in retried] == [(n, 6) for n in range(1, 7)]


async def test_an_overloaded_model_gives_way_to_another_after_three_retries(serve: Serve) -> None:
    retried, failure, asked = await tries(serve, BUSY, has_fallback=True)
    assert failure is not None
    assert (failure.kind, asked) == ("overloaded", 4)
    assert [(event.attempt, event.of) for event in retried] == [(1, 3), (2, 3), (3, 3)]


async def test_only_overloads_count_towards_the_fallback(serve: Serve) -> None:
    retried, failure, asked = await tries(
        serve, LIMITED, LIMITED, BUSY, BUSY, BUSY, Answer(text_answer()), has_fallback=True
    )
    assert failure is None
    assert asked == 6
    assert [(event.attempt, event.of) for event in retried] == [(1, 6), (2, 6), (3, 5), (4, 5), (5, 5)]


@pytest.mark.parametrize("inside", [False, True])
async def test_a_side_question_to_an_overloaded_model_gives_up_at_once(serve: Serve, inside: bool) -> None:
    broken = sse(start(), {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}})
    retried, failure, asked = await tries(serve, Answer(broken) if inside else BUSY, purpose="title")
    assert failure is not None
    assert (retried, failure.kind, asked) == ([], "overloaded", 1)


async def test_a_side_question_waits_where_it_came_too_often(serve: Serve) -> None:
    retried, failure, asked = await tries(serve, LIMITED, Answer(text_answer()), purpose="title")
    assert (len(retried), failure, asked) == (1, None, 2)


@pytest.mark.parametrize(("value", "requests"), [("0", 1), ("2", 3)])
async def test_the_variable_says_how_often(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, value: str, requests: int
) -> None:
    monkeypatch.setenv("TOOLPOST_MAX_RETRIES", value)
    _, failure, asked = await tries(serve, BUSY)
    assert failure is not None
    assert asked == requests


async def test_a_number_of_retries_that_is_none_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOLPOST_MAX_RETRIES", "many")
    with pytest.raises(ProviderError, match="TOOLPOST_MAX_RETRIES is 'many'"):
        async for _ in Anthropic().stream(ModelRequest(model="sonnet", messages=[])):
            pass


@pytest.mark.parametrize("status", [400, 401, 403, 404])
async def test_what_will_not_pass_is_not_tried_again(serve: Serve, status: int) -> None:
    body = b'{"type": "error", "error": {"type": "some_error", "message": "No"}}'
    _, failure, asked = await tries(serve, Answer(body, status, JSON))
    assert failure is not None
    assert asked == 1


@pytest.mark.parametrize(
    ("message", "kind", "place"),
    [
        ("messages.4.content.1.image.source.base64: The image data is not image/png", "invalid_image", (4, 1)),
        ("messages.0.content.2: image exceeds 5 MB maximum: 6000000 bytes > 5242880 bytes", "invalid_image", (0, 2)),
        ("messages.1.content.0.tool_result.content.1.document.source: broken", "invalid_image", (1, 0)),
        ("Could not process image", "invalid_image", (None, None)),
        ("The PDF specified was not valid.", "invalid_image", (None, None)),
        ("messages.3.content.0: text content blocks must be non-empty", "invalid_block", (3, 0)),
        ("messages.12: roles must alternate", "invalid_request", (12, None)),
        ("max_tokens: too many", "invalid_request", (None, None)),
    ],
)
def test_a_block_that_is_refused_is_named_by_its_place(message: str, kind: str, place: tuple[int | None, ...]) -> None:
    error = from_error({"type": "invalid_request_error", "message": message}, 400)
    assert (error.kind, error.message_index, error.content_index) == (kind, *place)
    assert not error.retriable
