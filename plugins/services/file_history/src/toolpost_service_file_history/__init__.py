"""Keeps what files were before the session changed them, and brings that back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from toolpost import FileHistory, Plugin, ServiceOffer, hookimpl

if TYPE_CHECKING:
    from toolpost import SessionScope


class FileHistoryService(Plugin):
    """Offers `FileHistory`, with copies under the configuration folder.

    `max_file_bytes`: of a bigger file no copy is kept, and it can't be rewound. `max_snapshots`: the prompts (and
    rewinds) with changes that can be gone back to; of older ones the copies are removed.
    """

    max_file_bytes: int = 64 * 1024 * 1024
    max_snapshots: int = 100

    @hookimpl(specname="services")
    def _services(self) -> Sequence[ServiceOffer[Any]]:
        return (ServiceOffer(FileHistory, self._make),)

    def _make(self, scope: SessionScope) -> FileHistory:
        from .history import LocalFileHistory, why_off

        return LocalFileHistory(
            scope, max_file_bytes=self.max_file_bytes, max_snapshots=self.max_snapshots, off=why_off(scope)
        )
