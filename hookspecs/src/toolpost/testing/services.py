"""The contract kit of plugins that offer services."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from toolpost.services import ServiceOffer
from toolpost.testing._contract import Contract, finish, made, registered
from toolpost.testing.context import make_scope


class ServiceContract(Contract):
    """The suite for a plugin that offers services; `protocols` are those that it offers."""

    plugin: ClassVar[Any]
    protocols: ClassVar[Sequence[type[Any]]]
    services: ClassVar[Mapping[Any, object]] = {}

    def make(self) -> Any:
        """Return the plugin."""
        return made(type(self).plugin)

    def test_it_offers_its_services(self) -> None:
        """If this fails: return a ServiceOffer for each Protocol from the hook `services`; core knows of no other."""
        offered = [offer.protocol for offer in self._offers()]
        assert sorted(kind.__name__ for kind in offered) == sorted(kind.__name__ for kind in self.protocols)

    def test_each_service_has_what_its_protocol_asks_for(self, folder: Path) -> None:
        """If this fails: the message names the method, what it lacks, or that it must be async: others call it so."""
        for offer in self._offers():
            service = offer.make(make_scope(folder, services=self.services))
            missing = [text for name in _public(offer.protocol) for text in _missing(offer.protocol, service, name)]
            assert missing == []
            finish(_closed(service))

    def test_each_session_has_a_service_of_its_own(self, folder: Path) -> None:
        """If this fails: make a new object in `make`; sessions must not share what they change."""
        for offer in self._offers():
            first, second = (offer.make(make_scope(folder, services=self.services)) for _ in range(2))
            assert first is not second
            for service in (first, second):
                finish(_closed(service))

    def _offers(self) -> Sequence[ServiceOffer[Any]]:
        return registered(self.make(), "services")


def _public(protocol: type[Any]) -> list[str]:
    return [name for name in vars(protocol) if not name.startswith("_")]


def _missing(protocol: type[Any], service: Any, name: str) -> list[str]:
    wanted, given = vars(protocol)[name], getattr(service, name, None)
    if given is None:
        return [f"{name} is missing"]
    if not inspect.isfunction(wanted):
        return []
    if inspect.iscoroutinefunction(wanted) != inspect.iscoroutinefunction(given):
        return [f"{name} must {'' if inspect.iscoroutinefunction(wanted) else 'not '}be async"]
    taken = _parameters(given)
    lost = [parameter for parameter in _parameters(wanted) if parameter != "self" and parameter not in taken]
    return [f"{name} does not take {parameter!r}" for parameter in lost]


def _parameters(function: Callable[..., Any]) -> list[str]:
    return list(inspect.signature(function).parameters)


async def _closed(service: Any) -> None:
    if hasattr(service, "aclose"):
        await service.aclose()
