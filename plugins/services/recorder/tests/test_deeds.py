"""What was done with a session is handed on, in its order and once."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from toolpost import ModelRequest, Provider, ProviderError, StreamEvent
from toolpost_service_recorder.deeds import Deeds
from toolpost_service_recorder.playing import Playing
from toolpost_service_recorder.recorder import FileRecorder


def test_deeds_wait_for_who_does_them_and_end_comes_behind_the_last() -> None:
    deeds, done = Deeds(3), list[str]()
    deeds.do("one", {})
    deeds.begin(lambda what, _: done.append(what))
    deeds.do("two", {})
    deeds.do("three", {})

    assert done == ["one", "two", "three", "end"]


def test_where_nothing_was_done_it_ends_at_once() -> None:
    done = list[str]()
    Deeds(0).begin(lambda what, _: done.append(what))

    assert done == ["end"]


def test_what_ended_before_anybody_was_there_has_ended_for_who_comes() -> None:
    deeds, done = Deeds(2), list[str]()
    deeds.end()
    deeds.begin(lambda what, _: done.append(what))

    assert done == ["end"]


class Refuses(Provider):
    """A provider that does not have a model."""

    def stream(self, request: ModelRequest) -> AsyncIterator[StreamEvent]:
        raise AssertionError("nothing is sent")

    async def check_model(self, request: ModelRequest) -> None:
        raise ProviderError(f"There is no model {request.model}.", kind="not_found", status=404)


async def test_what_the_service_said_against_a_model_is_said_again(tmp_path: Path) -> None:
    file, asked = tmp_path / "session.jsonl", ModelRequest(model="none", messages=())
    recording = FileRecorder().record(file, {}, lambda value: value)
    provider, _ = recording.provider(lambda: (Refuses(), "refuses"))
    with pytest.raises(ProviderError):
        await provider.check_model(asked)
    recording.close()
    replay = FileRecorder().replay(file, {}, lambda value: value)
    assert isinstance(replay, Playing)

    with pytest.raises(ProviderError, match="There is no model none") as raised:
        await replay.provider(lambda: (Refuses(), ""))[0].check_model(asked)
    assert (raised.value.kind, raised.value.status) == ("not_found", 404)
