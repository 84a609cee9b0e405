"""Keeps whole sessions in files, and plays them offline."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from toolpost import Plugin, Recorder, ServiceOffer, hookimpl

if TYPE_CHECKING:
    from toolpost import SessionScope


class RecorderService(Plugin):
    """Offers `Recorder`."""

    @hookimpl(specname="services")
    def _services(self) -> Sequence[ServiceOffer[Any]]:
        return (ServiceOffer(Recorder, self._make),)

    def _make(self, scope: SessionScope) -> Recorder:
        from .recorder import FileRecorder

        del scope
        return FileRecorder()
