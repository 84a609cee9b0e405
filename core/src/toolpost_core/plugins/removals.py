"""Hooks and arguments that a coming version of the hookspecs takes away: who still uses them is told so, by name."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from toolpost import RemovedInHookspec2Warning


def removals(options: Mapping[str, Any], hook: str, takes: Collection[str]) -> Iterator[str]:
    """Say what an implementation uses of a spec that was declared with `warn_on_impl` or `warn_on_impl_args`."""
    if options.get("warn_on_impl"):
        yield f"the hook {hook!r}: {options['warn_on_impl']}"
    for argument, why in (options.get("warn_on_impl_args") or {}).items():
        if argument in takes:
            yield f"the argument {argument!r} of the hook {hook!r}: {why}"


def warn(plugin: str, distribution: str, what: str) -> str:
    """Warn of one thing that a plugin uses; return the text, for the person."""
    text = f"The plugin {plugin!r} ({distribution}) uses what hookspecs 2 will not have, {what}"
    warnings.warn(RemovedInHookspec2Warning(text), stacklevel=2)
    return text
