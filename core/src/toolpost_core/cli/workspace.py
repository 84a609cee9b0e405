"""What commands that look in have in common: where, which settings, which plugins."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from toolpost import LaunchOptions
from toolpost._frozen import frozen
from toolpost_core.api import find_places, read_settings
from toolpost_core.cli.options import permission_mode, rules, sources
from toolpost_core.settings.keys import MODE_NAMES

if TYPE_CHECKING:
    from toolpost_core.plugins.registry import Problem, Registry
    from toolpost_core.session.parts import Places
    from toolpost_core.settings import Settings


@frozen()
class Workspace:
    """A folder with its settings and plugins; `problems` are those that reading them brought up."""

    options: LaunchOptions
    places: Places
    settings: Settings
    registry: Registry
    problems: list[Problem]


def with_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the flags that choose folder and settings; it gets them as `options`."""

    @click.option("--cwd", type=click.Path(file_okay=False, exists=True, path_type=Path), help="The folder to look at.")
    @click.option("--settings", "flag", metavar="FILE|JSON", help="More settings.")
    @click.option("--setting-sources", metavar="NAMES", help="Which of user, project, local to read.")
    @click.option("--trust", is_flag=True, help="As if this workspace were trusted.")
    @wraps(command)
    def run(
        *args: Any, cwd: Path | None, flag: str | None, setting_sources: str | None, trust: bool, **kwargs: Any
    ) -> Any:
        options = LaunchOptions(cwd=cwd, settings=flag, setting_sources=sources(setting_sources), trust=trust)
        return command(*args, options=options, **kwargs)

    return run


def with_permissions(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the flags that permit calls, in `options`; goes below `with_options`."""

    @click.option("--permission-mode", "--mode", "mode", type=click.Choice(MODE_NAMES), help="The permission mode.")
    @click.option("--allowed-tools", "--allowedTools", "allowed", multiple=True, metavar="RULES", help="Allow these.")
    @click.option(
        "--disallowed-tools", "--disallowedTools", "denied", multiple=True, metavar="RULES", help="Deny these."
    )
    @wraps(command)
    def run(
        *args: Any,
        options: LaunchOptions,
        mode: str | None,
        allowed: tuple[str, ...],
        denied: tuple[str, ...],
        **kwargs: Any,
    ) -> Any:
        given = replace(
            options,
            permission_mode=permission_mode(mode),
            allowed_tools=rules(allowed),
            disallowed_tools=rules(denied),
        )
        return command(*args, options=given, **kwargs)

    return run


def open_workspace(options: LaunchOptions) -> Workspace:
    """Read settings and plugins. Raises SettingsError, SessionError."""
    problems: list[Problem] = []
    places = find_places(options, os.environ)
    settings, registry = read_settings(options, places, os.environ, problems.append)
    return Workspace(options, places, settings, registry, problems)
