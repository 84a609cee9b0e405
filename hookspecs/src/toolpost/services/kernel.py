"""Services that core offers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

if TYPE_CHECKING:
    from toolpost._hooks import Event
    from toolpost.hook_runners import HookFiring, HookRunner
    from toolpost.permissions import Decision, PermissionScope, Rule
    from toolpost.providers import ModelRequest
    from toolpost.queue import Priority
    from toolpost.sandboxes import Sandbox
    from toolpost.session_events import Notice
    from toolpost.tools import Tool

E = TypeVar("E")
O = TypeVar("O")  # noqa: E741


class HookRunners(Protocol):
    """The runners of user-configured hooks; offered by core."""

    def get(self, type: str) -> HookRunner | None:
        """Return the runner of a hook type such as `command`; None where no enabled plugin has one."""


class SessionHooks(Protocol):
    """Hooks beside those of the settings, for as long as something lives; offered by core."""

    def add(self, hooks: Mapping[str, Sequence[Mapping[str, Any]]]) -> Callable[[], None]:
        """Let hooks run from now on, and return what ends that.

        `hooks` has the shape of the settings' key of that name. An entry of type `callback`, or `function`, holds a Python
        callable under the key of that name: `{"type": "callback", "callback": check, "timeout": 5}`. It is called with the
        event's JSON as a mapping and returns the hook's output as one, or None; it may be async. Where settings switch
        hooks off, these are off as well.
        """


class HookLog(Protocol):
    """Hears what became of configured hooks, for people who look for a mistake; offered by core."""

    @property
    def wanted(self) -> bool:
        """Whether anybody looks: what nobody reads need not be put together."""

    def add(self, firing: HookFiring) -> None:
        """Take one event with its hooks."""


class Emitter(Protocol):
    """Sends lifecycle events; offered by core, for what happens inside a plugin."""

    async def emit(self, event: Event[E, O], value: E) -> O | None:
        """Call every listener and return their merged answer; None where nobody answered."""


class Permissions(Protocol):
    """Lets a tool ask about something that it is about to do within its call."""

    async def check(
        self, tool_name: str, tool_input: Mapping[str, Any], *, stand_in: Tool[Any] | None = None
    ) -> Decision:
        """Return an Allow or a Deny, after asking a person where one must be.

        Where the session has no tool of that name `stand_in`, which has it, is judged in its place; it is never called.
        """


class Inbox(Protocol):
    """What the model is to read that comes up outside of its calls; offered by core."""

    def put(
        self,
        text: str,
        *,
        shown: Notice | None = None,
        kind: Literal["task", "hook", "scheduled", "context"] = "context",
        priority: Priority = "next",
    ) -> None:
        """Let the model read a text in its next request: with the results of its calls, or in the next turn.

        `kind` says where it comes from. All but `context` are worth a turn: a session where none runs begins one. `shown` is
        what front ends hear of it, at once where a turn runs, else as that begins.
        """

    def expect(self) -> AbstractContextManager[None]:
        """While this is entered a text is to come, which is worth a turn: a session without a person does not end before."""


class PermissionState(Protocol):
    """What decisions depend on at this moment; offered by core."""

    @property
    def scope(self) -> PermissionScope:
        """The places and circumstances."""

    @property
    def rules(self) -> Sequence[Rule]:
        """The rules of all sources."""


class Sandboxes(Protocol):
    """The sandboxes of enabled plugins; offered by core."""

    def usable(self) -> Sandbox | None:
        """Return the first by name that works on this machine; None where none does."""


class Models(Protocol):
    """Asks the model for a plugin, within the session's budget; offered by core."""

    @property
    def small(self) -> str:
        """The model for quick and cheap questions: the provider's, or the session's where it names none."""

    async def ask(self, request: ModelRequest) -> str:
        """Return the answer's text. An empty `model` means that of the session; `env` and `stash` are filled in.

        What it costs is the session's, and listed under the request's `purpose`. Raises ProviderError, also where what is
        left of the budget does not pay for it, and Aborted where the turn was called off.
        """
