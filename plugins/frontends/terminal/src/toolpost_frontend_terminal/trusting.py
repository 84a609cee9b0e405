"""The question whether the person trusts the folder that they work in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolpost import Reply

from .asking import Choice, answered
from .clean import one_line_input

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolpost import Host

    from .draw import Drawing
    from .stage import Stage

CHOICES = (
    Choice("Yes, I know where this folder comes from", Reply(allow=True)),
    Choice("No, leave these settings out", Reply(allow=False)),
)


async def ask(host: Host, stage: Stage) -> None:
    """Ask once for a folder whose settings would start or allow something; the answer is kept."""
    waiting = host.untrusted()
    if not waiting:
        return
    stage.show("question", *_drawings(waiting))
    label, reply = await stage.choose(CHOICES)
    if reply.stop:
        stage.show("question", answered("Not now: these settings are left out, and you are asked again"))
        return
    stage.show("question", answered(label))
    host.trust(reply.allow)


def _drawings(waiting: Sequence[str]) -> list[Drawing]:
    from rich.text import Text

    head = Text("? ", "bold yellow").append("Do you trust this folder?", "bold")
    body = Text("  Its own settings can start programs and allow calls. They want to set:", overflow="fold")
    lines = [Text(f"    {one_line_input(text)}", "dim", overflow="fold") for text in waiting]
    hint = Text("  Change the answer later with: toolpost trust add, toolpost trust remove", "dim", overflow="fold")
    return [head, body, *lines, hint]
