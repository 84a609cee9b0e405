"""The services of one session: those of plugins, made when first asked for, and those of core."""

from __future__ import annotations

from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any, TypeVar, cast

from toolpost import MissingService
from toolpost_core.session.declared import Limits

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from toolpost import ServiceOffer, SessionScope
    from toolpost_core.plugins.registry import Registry

S = TypeVar("S")


class ServiceTable:
    """Makes each service once. A plugin's offer of a Protocol comes before core's own, which `own` returns.

    What plugins offer is one for a session and its sub-agents: a sub-agent's table takes it from that of its `parent`.
    """

    def __init__(
        self,
        registry: Registry,
        scope: Callable[[], SessionScope],
        own: Callable[[type[Any]], object | None],
        parent: ServiceTable | None = None,
    ) -> None:
        self._parent = parent
        self._registry = registry
        self._scope = scope
        self._own = own
        self._made: dict[type[Any], Any] = {}
        self._offers: Sequence[tuple[ServiceOffer[Any], str]] | None = None

    def get(self, protocol: type[S]) -> S:
        """Return the service; raises MissingService, naming what would offer it."""
        if self._parent is not None and self._parent.is_offered(protocol):
            return self._parent.get(protocol)
        if protocol not in self._made:
            self._made[protocol] = self._make(protocol)
        return cast("S", self._made[protocol])

    def made(self, protocol: type[S]) -> S | None:
        """Return a service that was asked for before; None where nobody has."""
        inherited = self._parent.made(protocol) if self._parent is not None else None
        return inherited if inherited is not None else cast("S | None", self._made.get(protocol))

    def is_offered(self, protocol: type[Any]) -> bool:
        """Whether a plugin offers the service."""
        if self._parent is not None:
            return self._parent.is_offered(protocol)
        return any(offer.protocol is protocol for offer, _ in self._offered())

    def adopt(self, registry: Registry) -> None:
        """Ask other plugins from now on; what was made stays."""
        self._registry, self._offers = registry, None

    async def aclose(self) -> None:
        """Close what was made, last made first; the first error is raised after all were tried."""
        made, self._made = list(self._made.values()), {}
        async with AsyncExitStack() as stack:
            for service in made:
                close = getattr(service, "aclose", None)
                if close is not None:
                    stack.push_async_callback(close)

    def _offered(self) -> Sequence[tuple[ServiceOffer[Any], str]]:
        if self._offers is None:
            self._offers = [(provided.value, provided.plugin) for provided in self._registry.collect("services")]
        return self._offers

    def _make(self, protocol: type[Any]) -> object:
        for offer, plugin in self._offered():
            if offer.protocol is protocol:
                return offer.make(Limits(self._registry.manager.rules).scope(self._scope(), f"services/{plugin}"))
        own = self._own(protocol)
        if own is not None:
            return own
        installed = [entry for entry in self._registry.inventory.entries if entry.group == "services"]
        off = sorted({entry.name for entry in installed if self._registry.state_of(entry).status != "on"})
        raise MissingService(
            f"No plugin offers the service {protocol.__name__!r}. "
            + (f"Enable one of: {', '.join(off)}." if off else "Install a plugin of the kind `services` that does.")
        )
