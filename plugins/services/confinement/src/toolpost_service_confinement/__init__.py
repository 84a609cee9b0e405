"""Says what commands may do in the sandbox, and lets them out to the network."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from toolpost import Confinement, Plugin, ServiceOffer, hookimpl

__all__ = ["ConfinementService"]


class ConfinementService(Plugin):
    """Offers `Confinement`: the settings' policy, kept by whichever sandbox is on."""

    @hookimpl(specname="services")
    def _services(self) -> Sequence[ServiceOffer[Any]]:
        from .service import SettingsConfinement

        return (ServiceOffer(Confinement, SettingsConfinement),)
