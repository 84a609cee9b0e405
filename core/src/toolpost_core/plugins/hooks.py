"""The pluggy side: which hooks there are, and what an implementation must look like."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any, cast

import pluggy

from toolpost import hookspec, on, specs
from toolpost_core.plugins.listening import ListenerRules


class HookTable(pluggy.PluginManager):
    """pluggy with our specs; an event's spec is added when the first plugin listens to it.

    A plugin that implements an unknown hook, asks for an argument that the hook has not, or wraps other plugins' hooks
    is refused whole, before anything of it is registered. `rules` say in which order listeners are called, and what
    they may answer.
    """

    def __init__(self, project: str) -> None:
        super().__init__(project)
        self.rules = ListenerRules()
        self.outdated: list[tuple[object, str]] = []
        """Each plugin that uses what hookspecs 2 takes away, and what that is."""
        self._going: dict[str, Mapping[str, Any]] = {}
        self.add_hookspecs(specs)

    def parse_hookimpl_opts(self, plugin: Any, name: str) -> Any:
        """Find a hook implementation, and its spec."""
        if name.startswith("__"):  # no hook is called so, and half of the names of an object are
            return None
        options = super().parse_hookimpl_opts(plugin, name)
        if options is not None:
            self._check(plugin, name, cast("Mapping[str, Any]", options))
        return options

    def parse_hookspec_opts(self, module_or_class: Any, name: str) -> Any:
        """Find a spec. What it says of its removal is kept from pluggy, whose warnings do not name the plugin."""
        options = super().parse_hookspec_opts(module_or_class, name)
        if options is not None and (options.get("warn_on_impl") or options.get("warn_on_impl_args")):
            self._going[name] = cast("Mapping[str, Any]", options)
            return {**options, "warn_on_impl": None, "warn_on_impl_args": None}
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
        takes, passed = _parameters(getattr(plugin, name)), _parameters(spec)
        extra = [key for key in takes if key not in passed]
        going = self._going.get(hook, {})
        stays = set(passed) - set(going.get("warn_on_impl_args") or ())
        if not extra and not stays <= set(takes):
            raise pluggy.PluginValidationError(
                plugin, f"{name} does not take what the hook {hook!r} passes: it is {hook}({', '.join(passed)})"
            )
        if extra:
            raise pluggy.PluginValidationError(
                plugin,
                f"{name} asks the hook {hook!r} for {', '.join(map(repr, extra))}, which it does not pass. "
                f"Its signature is {hook}({', '.join(passed)})",
            )
        if going:
            from toolpost_core.plugins.removals import removals

            self.outdated += [(plugin, what) for what in removals(going, hook, takes)]

    def _add_event(self, plugin: Any, hook: str) -> None:
        if hook not in on.__all__:
            from difflib import get_close_matches

            known = [*on.__all__, *(name for name in dir(specs) if hasattr(getattr(specs, name), "toolpost_spec"))]
            near = get_close_matches(hook, known, 3) or known
            raise pluggy.PluginValidationError(
                plugin, f"it implements a hook {hook!r} that does not exist. Did you mean {' or '.join(near)}?"
            )
        spec = getattr(on, hook).spec
        self.add_hookspecs(
            cast("Any", SimpleNamespace(**{hook: spec if hasattr(spec, "toolpost_spec") else hookspec(spec)}))
        )


def _parameters(function: Callable[..., Any]) -> tuple[str, ...]:
    return tuple(inspect.signature(function).parameters)
