"""`toolpost replay`: play a recorded session offline, and say where it is not the recorded one any more."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Final, Literal

import click

from toolpost_core.cli.exits import complain, run_async
from toolpost_core.cli.flags import FORMATS
from toolpost_core.cli.played import open_recording

DIFFERS: Final = 1
AFTER_A_MISS: Final = "Where the change is meant, record it anew with the flags of then: toolpost record {file} PROMPT"


@click.command()
@click.argument("file", type=click.Path(dir_okay=False, exists=True, path_type=Path))
@click.option("--output-format", type=click.Choice(FORMATS), default="text", help="How to print what the session says.")
@click.option(
    "--tools", type=click.Choice(("recorded", "real")), default="recorded", help="Whether calls run again, for real."
)
@click.option(
    "--cwd", type=click.Path(file_okay=False, exists=True, path_type=Path), help="The folder that it is played in."
)
def replay(
    file: Path,
    output_format: Literal["text", "json", "stream-json"],
    tools: Literal["recorded", "real"],
    cwd: Path | None,
) -> int:
    """Play a recorded session without a model, a network or a key.

    It ends with 0 where everything is as it was recorded. Where the session asks something else than it did then, that and
    the difference are told, and it ends with 1. With --tools real calls are made in the folder as it is now, which they
    may change; what they come to is compared.
    """
    with tempfile.TemporaryDirectory(prefix="toolpost-replay-") as state:
        return run_async(_played(file, Path(state), output_format, cwd, real=tools == "real"))


async def _played(
    file: Path, state: Path, output_format: Literal["text", "json", "stream-json"], cwd: Path | None, *, real: bool
) -> int:
    played = open_recording(file, state, cwd, real_tools=real, output_format=output_format)
    code = await played.frontend.run(played.host)
    if not played.host.opened:
        return code
    for difference in played.world.differences:
        complain(difference)
    if played.world.miss is not None:
        others = (
            "" if played.same_plugins else "\nIt was recorded with other plugins or versions than are installed here."
        )
        complain(f"{file} does not fit any more. {played.world.miss}{others}\n{AFTER_A_MISS.format(file=file)}")
        return DIFFERS
    return _compared(len(played.world.differences)) if real else 0


def _compared(differences: int) -> int:
    """Say how many calls came to something else, and return the exit code."""
    count = {0: "Every call came", 1: "1 call did not come"}.get(differences, f"{differences} calls did not come")
    complain(f"{count} to what was recorded.")
    return DIFFERS if differences else 0
