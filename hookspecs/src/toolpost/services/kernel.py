"""Services that core offers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from toolpost._hooks import Event
    from toolpost.hook_runners import HookRunner
    from toolpost.permissions import Decision

E = TypeVar("E")
O = TypeVar("O")  # noqa: E741


class HookRunners(Protocol):
    """The runners of user-configured hooks; offered by core."""

    def get(self, type: str) -> HookRunner | None:
        """Return the runner of a hook type such as `command`; None where no enabled plugin has one."""


class Emitter(Protocol):
    """Sends lifecycle events; offered by core, for what happens inside a plugin."""

    async def emit(self, event: Event[E, O], value: E) -> O | None:
        """Call every listener and return their merged answer; None where nobody answered."""


class Permissions(Protocol):
    """Lets a tool ask about something that it is about to do within its call."""

    async def check(self, tool_name: str, tool_input: Mapping[str, Any]) -> Decision:
        """Return an Allow or a Deny, after asking a person where one must be."""
