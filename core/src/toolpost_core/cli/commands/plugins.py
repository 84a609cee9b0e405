"""`toolpost plugins`: what is installed, what is on, and why not."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import click

from toolpost_core.cli.lazy import LazyGroup

PLACES: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        "bisect": ("plugins_bisect:bisect", "Find the plugin that makes a command fail."),
        "check": ("plugins_check:check", "Run the contract kit on the plugin in a folder."),
        "disable": ("plugins_switch:disable", "Turn plugins off."),
        "doctor": ("plugins_doctor:doctor", "Find what is wrong with plugins, with what to do about it."),
        "enable": ("plugins_switch:enable", "Turn plugins on, once you saw what they would be given."),
        "info": ("plugins_info:info", "One plugin: what it brings, asks for and is set to."),
        "lock": ("plugins_lock:lock", "Write down which plugins this project uses, as they are now."),
        "list": ("plugins_list:list_", "Every plugin, its state, and why."),
        "new": ("plugins_new:new", "Write the distribution of a new plugin."),
        "profile": ("plugins_profile:profile", "What plugins cost: imports, tokens, time of their listeners."),
        "verify": ("plugins_lock:verify", "Whether plugins are still what was locked."),
    }
)
"""Each subcommand's place, and one line on it."""


@click.group(cls=LazyGroup, places=PLACES)
def plugins() -> None:
    """What is installed, on, and why not."""
