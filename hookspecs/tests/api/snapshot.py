"""What the public API is, as text: `python hookspecs/tests/api/snapshot.py` writes it down for the version in force.

A plugin depends on names, parameters, fields and defaults, and on which hooks and events there are. The wording of
docstrings and messages is not part of it.
"""

from __future__ import annotations

import dataclasses
import enum
import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from toolpost import HOOKSPEC_VERSION, Event

FOLDER = Path(__file__).parent
FILE = FOLDER / f"{'.'.join(HOOKSPEC_VERSION.split('.')[:2])}.txt"
MODULES = ("toolpost.on", "toolpost", "toolpost.testing")
HEAD = (
    f"# The public API {HOOKSPEC_VERSION}, written by snapshot.py. A change needs a version and a line in CHANGELOG.md."
)


def snapshot() -> str:
    """Return one line for each name, each field, method and parameter list."""
    lines = [HEAD]
    for name in MODULES:
        module = import_module(name)
        lines += [line for public in module.__all__ for line in _told(f"{name}.{public}", getattr(module, public))]
    specs = import_module("toolpost.specs")
    hooks = sorted(name for name, value in vars(specs).items() if hasattr(value, "toolpost_spec"))
    lines += [f"hook {name}{_signature(getattr(specs, name))}" for name in hooks]
    return "\n".join(lines) + "\n"


def _told(name: str, value: Any) -> Iterator[str]:
    if inspect.ismodule(value):
        yield f"{name}: module"
    elif isinstance(value, Event):
        kinds = [value.kind, *(["rewrites"] if value.rewrites else []), *(["preview"] if value.preview else [])]
        yield f"{name}: event {value.title}{_signature(value.spec)}, {', '.join(kinds)}, {value.deadline:g} s"
    elif isinstance(value, type):
        yield from _told_class(name, value)
    elif inspect.isfunction(value):
        yield f"{name}{_signature(value)}"
    else:
        yield f"{name} = {_plain(value)}"


def _told_class(name: str, kind: type) -> Iterator[str]:
    bases = [base.__name__ for base in kind.__bases__ if base is not object]
    yield f"{name}: class({', '.join(bases)})"
    if issubclass(kind, enum.Enum):
        yield from (f"{name}.{member.name} = {member.value!r}" for member in kind)
        return
    fields = dataclasses.fields(kind) if dataclasses.is_dataclass(kind) else ()
    for field in fields:
        optional = field.default is not dataclasses.MISSING or field.default_factory is not dataclasses.MISSING
        yield f"{name}.{field.name}: {field.type}{' = ...' if optional else ''}{'' if field.kw_only else ' (positional)'}"
    known = {field.name for field in fields}
    for key, annotation in sorted(vars(kind).get("__annotations__", {}).items()):
        if not key.startswith("_") and key not in known:
            yield f"{name}.{key}: {annotation}"
    for key, member in sorted(vars(kind).items()):
        function = getattr(member, "__func__", member)
        if isinstance(member, property):
            yield f"{name}.{key}: property"
        elif inspect.isfunction(function) and _counts(key, kind):
            yield f"{name}.{key}{_signature(function)}"


def _counts(method: str, kind: type) -> bool:
    """Whether a plugin can depend on a method; the rules of a kit are run, not called."""
    if method == "__init__":
        return not dataclasses.is_dataclass(kind) and not getattr(kind, "_is_protocol", False)
    return method == "__call__" or not method.startswith(("_", "test_"))


def _signature(function: Any) -> str:
    return _plain(str(inspect.signature(function)).replace("'", ""))


def _plain(value: object) -> str:
    """Leave out what differs from one interpreter to the next."""
    return re.sub(r" at 0x[0-9a-f]+", "", str(value)).replace("typing.", "")


if __name__ == "__main__":
    FILE.write_text(snapshot(), encoding="utf-8")
    print(f"wrote {FILE}")
