"""The pluggy side: which hooks there are, and what an implementation must look like."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any, cast

import pluggy

from toolpost import hookspec, on, specs


class HookTable(pluggy.PluginManager):
    """pluggy with our specs; an event's spec is added when the first plugin listens to it.

    A plugin that implements an unknown hook, asks for an argument that the hook has not, or wraps other plugins' hooks
    is refused whole, before anything of it is registered.
    """

    def __init__(self, project: str) -> None:
        super().__init__(project)
        self.add_hookspecs(specs)

    def parse_hookimpl_opts(self, plugin: Any, name: str) -> Any:
        """Find a hook implementation, and its spec."""
        options = super().parse_hookimpl_opts(plugin, name)
        if options is not None:
            self._check(plugin, name, cast("Mapping[str, Any]", options))
        return options

    def implementation(self, hook: str, plugin: object) -> Callable[..., Any] | None:
        """Return a registered plugin's own implementation of a hook."""
        caller: pluggy.HookCaller = getattr(self.hook, hook)
        return next((found.function for found in caller.get_hookimpls() if found.plugin is plugin), None)

    def _check(self, plugin: Any, name: str, options: Mapping[str, Any]) -> None:
        hook = options.get("specname") or name
        if not hasattr(self.hook, hook):
            self._add_event(plugin, hook)
        if options.get("wrapper") or options.get("hookwrapper"):
            raise pluggy.PluginValidationError(plugin, f"{name} wraps the hook {hook!r}; Toolpost calls no wrappers")
        spec = getattr(self.hook, hook).spec.function
        extra = [key for key in _parameters(getattr(plugin, name)) if key not in _parameters(spec)]
        if extra:
            raise pluggy.PluginValidationError(
                plugin,
                f"{name} asks the hook {hook!r} for {', '.join(map(repr, extra))}, which it does not pass. "
                f"Its signature is {hook}({', '.join(_parameters(spec))})",
            )

    def _add_event(self, plugin: Any, hook: str) -> None:
        if hook not in on.__all__:
            known = [*on.__all__, *(name for name in dir(specs) if hasattr(getattr(specs, name), "toolpost_spec"))]
            near = difflib.get_close_matches(hook, known, 3) or known
            raise pluggy.PluginValidationError(
                plugin, f"it implements a hook {hook!r} that does not exist. Did you mean {' or '.join(near)}?"
            )
        self.add_hookspecs(cast("Any", SimpleNamespace(**{hook: hookspec(getattr(on, hook).spec)})))


def _parameters(function: Callable[..., Any]) -> tuple[str, ...]:
    return tuple(inspect.signature(function).parameters)
