"""When notes are taken, of what, and that nothing waits for them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from toolpost import (
    Aborted,
    Block,
    Journal,
    Message,
    ModelRequest,
    Models,
    Provider,
    ProviderError,
    Stop,
    StreamEvent,
    TextDelta,
    Usage,
)
from toolpost.services import SessionNotes
from toolpost.testing import MemoryJournal, SessionHarness, make_scope, record
from toolpost_service_session_notes import SessionNotesService
from toolpost_service_session_notes.notes import BackgroundNotes


class Asked:
    """The service Models, with an answer for each request; a request waits until it is let go."""

    small = "small"

    def __init__(self, *answers: str | Exception) -> None:
        self.answers = list(answers)
        self.requests: list[ModelRequest] = []
        self.go = asyncio.Event()
        self.go.set()

    async def ask(self, request: ModelRequest) -> str:
        self.requests.append(request)
        await self.go.wait()
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    @property
    def last(self) -> str:
        return self.requests[-1].last_text


def notes_of(tmp_path: Path, models: Asked, journal: MemoryJournal | None = None, **scope: Any) -> BackgroundNotes:
    services = {Journal: journal or MemoryJournal(), Models: models}
    made = make_scope(tmp_path, services=services, **scope)
    return BackgroundNotes(made, every=5_000, first=10_000, tokens=2_000)


def said(*texts: str) -> list[Message]:
    return [{"role": "user" if n % 2 == 0 else "assistant", "content": text} for n, text in enumerate(texts)]


async def settled() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_they_are_taken_once_the_conversation_is_long_enough_and_has_grown(tmp_path: Path) -> None:
    models = Asked("first", "second")
    notes, messages = notes_of(tmp_path, models), said("Use tabs.", "Yes.", "Go on.", "Done.")

    async def read_at(size: int) -> str:
        notes.answered(messages, Usage(input_tokens=size - 10, output_tokens=10))
        await settled()
        return notes.read()

    assert [await read_at(size) for size in (9_999, 10_000, 14_999, 15_000)] == ["", "first", "first", "second"]
    assert len(models.requests) == 2


async def test_the_model_reads_its_notes_and_what_is_new(tmp_path: Path) -> None:
    models = Asked("the notes", "new notes")
    notes, messages = notes_of(tmp_path, models), said("Use tabs.", "Yes.")
    notes.answered(messages, Usage(input_tokens=12_000))
    await settled()
    assert "Use tabs." in models.last
    error: Message = {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "t", "content": "KeyError: 'x'", "is_error": True},
            {"type": "text", "text": "<system-reminder>\nnobody said this\n</system-reminder>"},
        ],
    }
    notes.answered([*messages, error], Usage(input_tokens=20_000))
    await settled()
    assert "the notes" in models.last
    assert "Error: KeyError: 'x'" in models.last
    assert "Use tabs." not in models.last
    assert "nobody said this" not in models.last


async def test_only_one_request_is_under_way_and_the_session_can_end_meanwhile(tmp_path: Path) -> None:
    models = Asked("never")
    models.go.clear()
    notes = notes_of(tmp_path, models)
    for size in (12_000, 20_000, 30_000):
        notes.answered(said("a", "b"), Usage(input_tokens=size))
        await settled()
    assert len(models.requests) == 1
    await notes.aclose()
    assert notes.read() == ""


async def test_a_resumed_session_has_its_notes_and_another_has_none(tmp_path: Path) -> None:
    journal = MemoryJournal()
    notes = notes_of(tmp_path, Asked("kept"), journal)
    notes.answered(said("a", "b"), Usage(input_tokens=12_000))
    await settled()
    assert notes_of(tmp_path, Asked(), journal).read() == "kept"
    journal.session_id, journal.appended = "another", []
    assert notes.read() == ""


async def test_after_three_failures_it_gives_up_and_says_so_once(tmp_path: Path) -> None:
    told: list[str] = []
    failures = [ProviderError("overloaded") for _ in range(3)]
    models = Asked(Aborted("user_cancel"), *failures)
    notes = notes_of(tmp_path, models, report=told.append)
    for _ in range(6):
        notes.answered(said("a", "b"), Usage(input_tokens=12_000))
        await settled()
    assert len(models.requests) == 4
    assert len(told) == 1
    assert "overloaded" in told[0]


class Answers(Provider):
    """Says that the conversation is long, and takes notes."""

    default_model = "answers"

    def __init__(self) -> None:
        self.noted = asyncio.Event()
        self.purposes: list[str] = []

    async def stream(self, request: ModelRequest) -> AsyncIterator[StreamEvent]:
        self.purposes.append(request.purpose)
        if request.purpose == "notes":
            yield TextDelta("# Rules: tabs")
            yield Stop("end_turn", Usage(input_tokens=50, output_tokens=10))
            self.noted.set()
            return
        yield Block({"type": "text", "text": "Done."})
        yield Stop("end_turn", Usage(input_tokens=20_000, output_tokens=10))


def test_a_session_takes_them_only_where_it_is_asked_to(tmp_path: Path) -> None:
    def run(plugin: SessionNotesService, folder: Path) -> tuple[Answers, str]:
        model = Answers()

        async def one_prompt() -> str:
            harness = SessionHarness(folder, model, plugins=[plugin])
            async with harness.session() as session:
                await record(session, "Use tabs.")
                if plugin.every:
                    await asyncio.wait_for(model.noted.wait(), 10)
                    await settled()
                service: Any = session
                return str(service.services.get(SessionNotes).read())

        return model, asyncio.run(one_prompt())

    model, text = run(SessionNotesService(every=5_000), tmp_path / "on")
    assert (model.purposes, text) == (["main", "notes"], "# Rules: tabs")
    model, text = run(SessionNotesService(), tmp_path / "off")
    assert (model.purposes, text) == (["main"], "")
