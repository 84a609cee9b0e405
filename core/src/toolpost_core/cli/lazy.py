"""Command groups whose commands are imported when they are asked for."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, Final

import click

from toolpost_core.cli.usage import near

PACKAGE: Final = "toolpost_core.cli.commands"


class LazyGroup(click.Group):
    """A group that knows its commands by where they stand: `module:name` in the package of commands, and one line."""

    def __init__(self, *args: Any, places: Mapping[str, tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._places = places

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the commands."""
        del ctx
        return sorted(self._places)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        del ctx
        if cmd_name not in self._places:
            return None
        module, _, name = self._places[cmd_name][0].partition(":")
        command: click.Command = getattr(import_module(f"{PACKAGE}.{module}"), name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write each command with its one line, whole."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, self._places[name][1]) for name in self.list_commands(ctx)])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; for one that is not there the nearest is named."""
        if args[0] not in self._places and not args[0].startswith("-"):
            ctx.fail(f"There is no command {args[0]!r} here.{near(args[0], self._places)}")
        return super().resolve_command(ctx, args)
