"""How one listener is called: what follows from its event, from its own options and from what its plugin declares."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, TypeAlias

from toolpost._frozen import frozen
from toolpost._hooks import options_of

if TYPE_CHECKING:
    from collections.abc import Callable

    import pluggy

    from toolpost import Event
    from toolpost_core.plugins.listening import ListenerRules

Key: TypeAlias = tuple[str, str, int]


@frozen(eq=False)
class Terms:
    """One listener of one event, and how it is called.

    `number` tells it from other listeners of its plugin to the same event. `roles` are what it may do, `limit` its
    seconds; `blocks` says whether its failure does.
    """

    event: Event[Any, Any]
    plugin: str
    number: int
    function: Callable[..., Any]
    is_async: bool
    roles: tuple[str, ...]
    limit: float
    blocks: bool

    @property
    def key(self) -> Key:
        """What the listener is known by in a session, also after a reload made it anew."""
        return self.plugin, self.event.name, self.number


def terms_of(event: Event[Any, Any], hook: pluggy.HookCaller, listener: pluggy.HookImpl, rules: ListenerRules) -> Terms:
    """Work out the terms of a listener that is registered at a hook."""
    options = options_of(listener.function)
    roles = tuple(rules.roles(listener.plugin_name, event.name))
    wanted = options.on_failure or ("block" if event.kind == "decide" else "continue")
    return Terms(
        event,
        listener.plugin_name,
        [other for other in hook.get_hookimpls() if other.plugin is listener.plugin].index(listener),
        listener.function,
        inspect.iscoroutinefunction(listener.function),
        roles,
        options.timeout or event.deadline,
        wanted == "block" and "decide" in roles,
    )
