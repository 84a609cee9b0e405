"""How hooks are told of a turn that ended in an error."""

from __future__ import annotations

from pathlib import Path

import pytest
from fake_session import fake_session, listen, result_of, run

from toolpost import ProviderError, StopFailure, on
from toolpost.testing import FakeModel


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("rate_limit", "rate_limit"),
        ("authentication_failed", "authentication_failed"),
        ("invalid_block", "invalid_request"),
        ("invalid_image", "invalid_request"),
    ],
)
async def test_a_failure_is_told_by_the_name_that_hooks_match_on(tmp_path: Path, kind: str, told: str) -> None:
    heard: list[StopFailure] = []
    model = FakeModel(ProviderError("No.", kind=kind))
    async with fake_session(tmp_path, model, listen(on.stop_failure, lambda event: heard.append(event))) as session:
        assert result_of(await run(session)).is_error
    assert [(event.error, event.error_details) for event in heard] == [(told, "No.")]
