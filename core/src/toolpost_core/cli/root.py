"""The click side: the commands, imported by need."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from toolpost_core.cli.commands import COMMANDS
from toolpost_core.cli.exits import complain, tell_notes
from toolpost_core.cli.lazy import LazyGroup
from toolpost_core.cli.streams import own_stdout


def run_command(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code."""
    names = {"help_option_names": ["-h", "--help"]}
    root = LazyGroup("toolpost", places=COMMANDS, help="An agent for the terminal.", context_settings=names)
    try:
        with own_stdout():
            code: Any = root.main(list(arguments), prog_name="toolpost", standalone_mode=False)
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.exceptions.Abort as error:
        tell_notes(error.__cause__)
        return 130
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return 2
    except click.UsageError as error:
        said = error.format_message()
        stop = "" if said.endswith((".", "?")) else "."
        where = f" See `{error.ctx.command_path} --help`." if error.ctx else ""
        complain(f"{said}{stop}{where}")
        return 2
    except click.ClickException as error:
        complain(error.format_message())
        return error.exit_code
    return code if isinstance(code, int) else 0
