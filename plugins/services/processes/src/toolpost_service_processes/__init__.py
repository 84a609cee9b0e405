"""Starts processes and ends whole process trees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from toolpost import Plugin, Processes, ServiceOffer, hookimpl


class ProcessesService(Plugin):
    """Offers `Processes` on this machine.

    What a session started is ended with it: by `aclose`, or where this program is killed by a watchdog that outlives it.
    """

    @hookimpl(specname="services")
    def _services(self) -> Sequence[ServiceOffer[Any]]:
        from .local import LocalProcesses

        return (ServiceOffer(Processes, lambda _: LocalProcesses()),)
