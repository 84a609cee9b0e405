"""The services of one session: those of plugins, made when first asked for, and those of core."""

from __future__ import annotations

from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any, TypeVar, cast

from toolpost import MissingService
from toolpost_core.session.declared import Limits

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from toolpost import Decision, Event, Sandbox, ServiceOffer, SessionScope
    from toolpost.services import HookLog, Inbox, Journal, Models, PermissionState, SessionHooks
    from toolpost_core.events.dispatch import Dispatcher
    from toolpost_core.plugins.registry import Registry

S = TypeVar("S")
E = TypeVar("E")
O = TypeVar("O")  # noqa: E741


class ServiceTable:
    """Makes each service once. A plugin's offer of a Protocol comes before core's own."""

    def __init__(
        self,
        registry: Registry,
        scope: Callable[[], SessionScope],
        events: Dispatcher,
        check: Callable[[str, Mapping[str, Any]], Awaitable[Decision]],
        models: Callable[[], Models],
        state: PermissionState,
        sandbox: Callable[[], Sandbox | None],
        inbox: Inbox,
        journal: Journal,
        hooks: SessionHooks,
        hook_log: HookLog,
    ) -> None:
        self._registry = registry
        self._scope = scope
        self._events = events
        self._check = check
        self._models = models
        self._state = state
        self._sandbox = sandbox
        self._inbox = inbox
        self._journal = journal
        self._hooks = hooks
        self._hook_log = hook_log
        self._made: dict[type[Any], Any] = {}
        self._offers: Sequence[tuple[ServiceOffer[Any], str]] | None = None

    def get(self, protocol: type[S]) -> S:
        """Return the service; raises MissingService, naming what would offer it."""
        if protocol not in self._made:
            self._made[protocol] = self._make(protocol)
        return cast("S", self._made[protocol])

    def made(self, protocol: type[S]) -> S | None:
        """Return a service that was asked for before; None where nobody has."""
        return cast("S | None", self._made.get(protocol))

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

    def _make(self, protocol: type[Any]) -> object:
        if self._offers is None:
            self._offers = [(provided.value, provided.plugin) for provided in self._registry.collect("services")]
        for offer, plugin in self._offers:
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

    def _own(self, protocol: type[Any]) -> object | None:
        from toolpost.services import (
            Emitter,
            HookLog,
            HookRunners,
            Inbox,
            Journal,
            Models,
            Permissions,
            PermissionState,
            Sandboxes,
            SessionHooks,
        )

        if protocol is HookRunners:
            from toolpost_core.session.runners import Runners

            return Runners(lambda: self._registry, self._scope)
        if protocol is Emitter:
            return Sender(self._events)
        if protocol is Models:
            return self._models()
        if protocol is Inbox:
            return self._inbox
        if protocol is Journal:
            return self._journal
        if protocol is SessionHooks:
            return self._hooks
        if protocol is HookLog:
            return self._hook_log
        if protocol is PermissionState:
            return self._state
        if protocol is Sandboxes:
            return Chosen(self._sandbox)
        return Nested(self._check) if protocol is Permissions else None


class Chosen:
    """`Sandboxes`: the one that was chosen for the session."""

    def __init__(self, sandbox: Callable[[], Sandbox | None]) -> None:
        self._sandbox = sandbox

    def usable(self) -> Sandbox | None:
        """Return it; None where commands run without one."""
        return self._sandbox()


class Sender:
    """`Emitter`: lifecycle events of plugins."""

    def __init__(self, events: Dispatcher) -> None:
        self._events = events

    async def emit(self, event: Event[E, O], value: E) -> O | None:
        """Call every listener and return their merged answer."""
        emission = await self._events.emit(cast("Any", event), cast("Any", value))
        return cast("O | None", emission.outcome)


class Nested:
    """`Permissions`: decisions on what a tool does within its call."""

    def __init__(self, check: Callable[[str, Mapping[str, Any]], Awaitable[Decision]]) -> None:
        self._check = check

    async def check(self, tool_name: str, tool_input: Mapping[str, Any]) -> Decision:
        """Return an Allow or a Deny."""
        return await self._check(tool_name, tool_input)
