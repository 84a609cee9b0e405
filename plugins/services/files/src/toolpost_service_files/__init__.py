"""Reads and atomically writes files in any encoding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from toolpost import Files, Plugin, ServiceOffer, hookimpl


class FilesService(Plugin):
    """Offers `Files` on this machine's file systems."""

    @hookimpl(specname="services")
    def _services(self) -> Sequence[ServiceOffer[Any]]:
        from .local import LocalFiles

        return (ServiceOffer(Files, lambda scope: LocalFiles(services=scope.services)),)
