"""What the person is asked in the place of the input line."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeAlias

from .dialog import Answer, Dialog
from .menu import Menu, Picked

if TYPE_CHECKING:
    from asyncio import Future
    from collections.abc import Callable

Outcome: TypeAlias = Answer | Picked


class Asked:
    """The dialog that is open, if one is; `changed` is called with every change of it."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self.dialog: Dialog | Menu | None = None
        self._changed = changed
        self._outcome: Future[Outcome] | None = None

    async def put(self, dialog: Dialog | Menu) -> Outcome:
        """Open a dialog and return what the person made of it."""
        self.dialog = dialog
        self._outcome = asyncio.get_running_loop().create_future()
        self._changed()
        try:
            return await self._outcome
        finally:
            self.dialog = self._outcome = None
            self._changed()

    def step(self, next: Dialog | Menu | Outcome) -> None:
        """Take what a key made of the dialog."""
        if isinstance(next, (Dialog, Menu)):
            self.dialog = next
            self._changed()
        elif self._outcome is not None and not self._outcome.done():
            self._outcome.set_result(next)

    def stop(self) -> None:
        """Take what the dialog takes for its end without an answer."""
        if self.dialog is not None:
            self.step(self.dialog.stop())
