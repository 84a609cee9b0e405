"""`/compact`: the conversation, or the part of it that the person picks, gives way to a summary."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias, cast

from toolpost import Notice

from . import draw
from .asking import answered
from .rewind import SHORT_ID, entry_of

if TYPE_CHECKING:
    from toolpost import SessionDoor

    from .stage import Stage

    Part: TypeAlias = tuple[Literal["up_to", "from"], str]


async def compact(door: SessionDoor, argument: str, stage: Stage) -> None:
    """Do it; the argument is what matters, or `up_to` or `from` and a prompt's id. Raises ToolpostError."""
    direction, _, rest = argument.partition(" ")
    part: Part | None = None
    if direction in ("up_to", "from"):
        prompt, _, words = rest.strip().partition(" ")
        if not prompt:
            picked = await _picked(door, stage)
            if picked is None:
                stage.show("command", draw.notice(Notice("Everything stays as it is.")))
                return
            part, argument = cast("Part", (direction, picked)), ""
        elif len(prompt) >= SHORT_ID and any(sent.id.startswith(prompt) for sent in door.sent_prompts()):
            part, argument = cast("Part", (direction, prompt)), words
    stage.busy("Compacting the conversation", door)
    try:
        async for event in door.compact(argument.strip(), part=part):
            if isinstance(event, Notice):
                stage.show("command", draw.notice(event))
    finally:
        stage.idle()


async def _picked(door: SessionDoor, stage: Stage) -> str | None:
    """Let the person pick a prompt; returns its id, None for none."""
    prompts = [prompt for prompt in door.sent_prompts() if not prompt.rewound][::-1]
    if not prompts:
        return None
    stage.show("command", "From which prompt on, or up to which?")
    entries = [entry_of(prompt) for prompt in prompts]
    index = await stage.pick(entries)
    if index is None:
        return None
    stage.show("command", answered(entries[index].label))
    return prompts[index].id
