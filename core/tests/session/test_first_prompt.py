"""What belongs before the first prompt gets there, also where the first try of it failed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fake_session import fake_session, listen, result_of, run

from toolpost import ContextSource, ModelInfo, ProviderError, Section, SessionScope, on
from toolpost.events.session import SessionStartOutcome
from toolpost.events.turn import UserPromptSubmitOutcome
from toolpost.testing import FakeModel

HOUSE_RULES = "<system-reminder>\nthe house rules\n</system-reminder>"


class House(ContextSource):
    async def sections(self, scope: SessionScope) -> Sequence[Section]:
        return (Section(name="house", text="the house rules", user=True),)


def said(model: FakeModel) -> list[list[str]]:
    return [[block["text"] for block in message["content"]] for message in model.requests[-1].messages]  # type: ignore[index, typeddict-item]


async def test_a_blocked_first_prompt_leaves_what_goes_before_it_to_the_next_one(tmp_path: Path) -> None:
    def blocks(event: Any) -> UserPromptSubmitOutcome | None:
        return UserPromptSubmitOutcome(block=True, reason="no") if event.prompt == "secret" else None

    plugins = [
        House(),
        listen(on.session_start, lambda event: SessionStartOutcome(additional_context="from the start")),
        listen(on.user_prompt_submit, blocks),
    ]
    model = FakeModel("Hello.", "Again.")
    async with fake_session(tmp_path, model, *plugins) as session:
        await run(session, "secret")
        await run(session, "hi")
        assert said(model) == [[HOUSE_RULES, "from the start", "hi"]]
        await run(session, "ho")

    assert said(model)[-1] == ["ho"]


async def test_a_prompt_that_could_not_be_made_is_made_again_for_the_next_one(tmp_path: Path) -> None:
    class Late(FakeModel):
        default_model = "wrong"

        def model(self, name: str) -> ModelInfo:
            if name == "wrong":
                raise ProviderError("there is no such model", kind="model_not_found")
            return ModelInfo(id=name)

    model = Late("Hello.")
    async with fake_session(tmp_path, model, House()) as session:
        assert result_of(await run(session, "hi")).is_error
        await session.set_model("right")
        assert result_of(await run(session, "hi")).text == "Hello."

    assert said(model) == [[HOUSE_RULES, "hi"]]


async def test_a_start_listener_that_ends_the_turn_keeps_its_prompt_from_the_model(tmp_path: Path) -> None:
    def stops(event: Any) -> SessionStartOutcome:
        return SessionStartOutcome(stop=True, stop_reason="no licence", additional_context="from the start")

    model = FakeModel("Hello.")
    async with fake_session(tmp_path, model, listen(on.session_start, stops)) as session:
        assert result_of(await run(session, "hi")).text == "no licence"
        assert model.requests == []
        await run(session, "ho")

    assert said(model) == [["from the start", "ho"]]
