"""`toolpost --init-only`: a project's Setup and SessionStart hooks run, and nothing is asked of a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from toolpost_core.cli.exits import complain
from toolpost_core.cli.usage import UsageMistake

if TYPE_CHECKING:
    from toolpost import LaunchOptions


async def init_only(options: LaunchOptions, words: Sequence[str]) -> int:
    """Run the hooks; returns the exit code, which is 1 where one of them ends the turn. Raises UsageMistake."""
    from toolpost_core.api import open_session
    from toolpost_core.session.around import Around

    if words:
        raise UsageMistake("--init-only takes no prompt: it runs hooks and exits. --init goes with a prompt.")
    async with open_session(options, need_model=False) as session:
        stopped = await Around(session).begun()
        for text in session.parts.notices:
            complain(f"warning: {text}")
    if stopped is not None:
        complain(stopped)
    return 0 if stopped is None else 1
