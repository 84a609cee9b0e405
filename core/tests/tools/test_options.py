"""What a call is told of the model in use."""

from __future__ import annotations

from pathlib import Path

from fake_session import fake_session, run
from fake_tools import Acts

from toolpost import ModelInfo, ToolOptions, ToolUse
from toolpost.testing import FakeModel


class Blind(FakeModel):
    """A model that takes text only, unless it is the one with eyes."""

    def model(self, name: str) -> ModelInfo:
        return ModelInfo(id=name, images=name == "seeing", documents=name == "seeing")


async def test_a_call_is_told_what_the_model_in_use_takes_also_after_a_switch(tmp_path: Path) -> None:
    told: list[ToolOptions] = []
    acts = Acts(act=lambda ctx: told.append(ctx.options))
    calls = (ToolUse(f"toolu_{number}", "Acts", {"text": "hi"}) for number in range(2))
    model = Blind(next(calls), "One.", next(calls), "Two.")
    async with fake_session(tmp_path, model, acts) as session:
        await session.set_model("blind")
        await run(session)
        await session.set_model("seeing")
        await run(session)

    assert [(options.model, options.images, options.documents) for options in told] == [
        ("blind", False, False),
        ("seeing", True, True),
    ]
