"""Offering a service, and asking for one."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from toolpost._frozen import frozen

if TYPE_CHECKING:
    from toolpost.session import SessionScope

S = TypeVar("S")


@frozen()
class ServiceOffer(Generic[S]):
    """A service that a plugin offers: its Protocol, and how to make one for a session.

    `make` is called at most once a session, when the service is first asked for. If what it returns has an `aclose()`
    coroutine method, core awaits it at the session's end.
    """

    protocol: type[S]
    make: Callable[[SessionScope], S]


class Services(Protocol):
    """The services of one session."""

    def get(self, protocol: type[S]) -> S:
        """Return the service; raises MissingService, naming the plugins that would offer it."""
