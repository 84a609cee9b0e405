"""Runs commands of a shell, to their end or in the background."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from toolpost import Plugin, ServiceOffer, hookimpl


class CommandsService(Plugin):
    """Offers `Commands`: runs what a shell is given, and ends whatever it started."""

    @hookimpl(specname="services")
    def _services(self) -> Sequence[ServiceOffer[Any]]:
        from toolpost import Commands

        from .local import LocalCommands

        return (ServiceOffer(Commands, LocalCommands),)
