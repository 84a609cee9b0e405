"""Lazy public names (PEP 562): a name's module is imported when the name is first used."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module


def attach(
    module: str, names: Mapping[str, Sequence[str]], *, base: str | None = None, modules: Sequence[str] = ()
) -> tuple[Callable[[str], object], list[str]]:
    """Return `__getattr__` and `__all__` for a module whose public names live elsewhere.

    `names` maps each module (relative to `base`, by default the module itself) to the public names that it defines.
    `modules` are modules that are public names themselves.
    """
    home = {name: where for where, defined in names.items() for name in defined}

    def __getattr__(name: str) -> object:  # noqa: N807 - PEP 562 names it
        if name in modules:
            return import_module(f"{base or module}.{name}")
        if name not in home:
            raise AttributeError(f"module {module!r} has no attribute {name!r}{_near(name, home)}", name=name)
        value = getattr(import_module(f"{base or module}.{home[name]}"), name)
        vars(sys.modules[module])[name] = value
        return value

    return __getattr__, [*sorted(home), *modules]


def _near(name: str, known: Mapping[str, str]) -> str:
    """Ask for the name that was meant; of what the interpreter looks up by itself, such as `__path__`, nothing."""
    if name.startswith("_"):
        return ""
    from difflib import get_close_matches

    near = get_close_matches(name, known, 1)
    return f". Did you mean {near[0]!r}?" if near else ""
