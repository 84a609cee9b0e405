"""The services that one plugin gets: those that its package declares."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeVar

from toolpost import MissingService

if TYPE_CHECKING:
    from toolpost import Services
    from toolpost_core.plugins.capabilities import Capabilities

S = TypeVar("S")


class DeclaredServices:
    """`Services` for a plugin whose package has a `toolpost.toml`."""

    def __init__(self, services: Services, declared: Capabilities, plugin: str, distribution: str) -> None:
        self._services = services
        self._declared = declared
        self._plugin = plugin
        self._distribution = distribution

    def get(self, protocol: type[S]) -> S:
        """Return the service; raises MissingService for one that the package does not declare."""
        if not self._declared.has_service(protocol.__name__):
            own = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", protocol.__name__).lower()
            names = ", ".join(f'"{name}"' for name in (*self._declared.services, own))
            raise MissingService(
                f"The plugin {self._plugin!r} ({self._distribution}) asked for the service {protocol.__name__}, which it "
                f"does not declare. Its author writes into [capabilities] in {self._declared.file}: services = [{names}]"
            )
        return self._services.get(protocol)
