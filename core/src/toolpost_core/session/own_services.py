"""The services that core offers itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from toolpost import Decision, Event, Sandbox, Tool
    from toolpost_core.session.inner import Inner

E = TypeVar("E")
O = TypeVar("O")  # noqa: E741


class OwnServices:
    """Core's services for one session, by Protocol."""

    def __init__(self, session: Inner) -> None:
        self._session = session

    def find(self, protocol: type[Any]) -> object | None:
        """Return the service; None where core has none of that Protocol."""
        from toolpost import services as named
        from toolpost_core.session.agents import SubAgents
        from toolpost_core.session.asking import SideModels
        from toolpost_core.session.journal import SessionJournal
        from toolpost_core.session.runners import Runners

        session = self._session
        offered: Mapping[type[Any], Callable[[], object]] = {
            named.Agents: lambda: SubAgents(session),
            named.Emitter: lambda: Sender(session),
            named.HookLog: lambda: session.hook_log,
            named.HookRunners: lambda: Runners(lambda: session.parts.registry, session.scope),
            named.Inbox: lambda: session.outside.inbox(session.queue),
            named.Journal: lambda: SessionJournal(session),
            named.Models: lambda: SideModels(session),
            named.PermissionState: lambda: session.surroundings,
            named.Permissions: lambda: Nested(session),
            named.Sandboxes: lambda: Chosen(session),
            named.SessionHooks: lambda: session.added_hooks,
        }
        make = offered.get(protocol)
        return make() if make is not None else None


class Chosen:
    """`Sandboxes`: the one that was chosen for the session."""

    def __init__(self, session: Inner) -> None:
        self._session = session

    def usable(self) -> Sandbox | None:
        """Return it; None where commands run without one."""
        return self._session.parts.sandbox


class Sender:
    """`Emitter`: lifecycle events of plugins."""

    def __init__(self, session: Inner) -> None:
        self._session = session

    async def emit(self, event: Event[E, O], value: E) -> O | None:
        """Call every listener and return their merged answer."""
        emission = await self._session.events.emit(cast("Any", event), cast("Any", value))
        return cast("O | None", emission.outcome)


class Nested:
    """`Permissions`: decisions on what a tool does within its call."""

    def __init__(self, session: Inner) -> None:
        self._session = session

    async def check(
        self, tool_name: str, tool_input: Mapping[str, Any], *, stand_in: Tool[Any] | None = None
    ) -> Decision:
        """Return an Allow or a Deny."""
        from toolpost_core.session.nested import decide

        return await decide(self._session, tool_name, tool_input, stand_in)
