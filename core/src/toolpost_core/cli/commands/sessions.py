"""`toolpost sessions`: sessions that were kept."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import click

from toolpost_core.cli.lazy import LazyGroup

PLACES: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        "export": ("sessions_export:export", "A session as Markdown or JSON, without secrets."),
        "fork": ("sessions_fork:fork", "Copy a session, to go on in the copy."),
        "list": ("sessions_list:list_", "The sessions of this folder, the newest first."),
        "prune": ("sessions_prune:prune", "Remove old sessions."),
        "show": ("sessions_show:show", "What was said and done in a session."),
    }
)
"""Each subcommand's place, and one line on it."""


@click.group(cls=LazyGroup, places=PLACES)
def sessions() -> None:
    """Sessions that were kept."""
