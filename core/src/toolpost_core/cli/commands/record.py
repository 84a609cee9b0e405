"""`toolpost record`: run a prompt as -p does, and keep the whole session in a file."""

from __future__ import annotations

from typing import Final

import click

AS_GIVEN: Final = {"ignore_unknown_options": True, "allow_interspersed_args": False}


@click.command(context_settings=AS_GIVEN)
@click.argument("file", type=click.Path(dir_okay=False))
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[FLAGS] PROMPT")
def record(file: str, arguments: tuple[str, ...]) -> int:
    """Run a prompt with the flags of -p, and keep the whole session in FILE.

    FILE is written anew. What looks like a secret is left out, but no rule knows all of them: look before you hand it on.
    """
    from toolpost_core.cli.launch import launch

    return launch(["--print", "--record", file, *arguments])
