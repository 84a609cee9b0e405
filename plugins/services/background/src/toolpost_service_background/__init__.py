"""Keeps work that goes on in the background."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from toolpost import Plugin, ServiceOffer, hookimpl

if TYPE_CHECKING:
    from toolpost import SessionScope, Tasks


class BackgroundService(Plugin):
    """Offers `Tasks`: work that goes on while the model does something else, and ends with the session."""

    @hookimpl(specname="services")
    def _services(self) -> Sequence[ServiceOffer[Any]]:
        from toolpost import Tasks

        return (ServiceOffer(Tasks, _make),)


def _make(session: SessionScope) -> Tasks:
    from toolpost.services import Inbox

    from .tasks import BackgroundTasks

    assert session.services is not None
    return BackgroundTasks(session.services.get(Inbox))
