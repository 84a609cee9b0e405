"""What a plugin brings, as its source says: nothing of it is run."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from importlib.machinery import PathFinder
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Final, NamedTuple

from toolpost import on
from toolpost_core.plugins.scan import Entry

MOST: Final = 200
"""Files of one package that are read; a plugin has a handful."""


class Brings(NamedTuple):
    """Names of tools and of hooks that a plugin's package has in its source; what it makes as it runs is not among them."""

    tools: tuple[str, ...] = ()
    hooks: tuple[str, ...] = ()
    files: int = 0


def look(entry: Entry) -> Brings:
    """Read the sources of the package that an entry point names."""
    return brings(list(_files(entry.value.partition(":")[0].split(".")[0])))


def brings(files: Sequence[Traversable]) -> Brings:
    """Read sources; files that can't be read are passed over, and so is what is more than `MOST`."""
    tools: set[str] = set()
    hooks: set[str] = set()
    for file in files[:MOST]:
        try:
            tree = ast.parse(file.read_bytes(), str(file))
        except (OSError, SyntaxError, ValueError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                for decorator in node.decorator_list:
                    _function(node.name, decorator, tools, hooks)
            elif isinstance(node, ast.ClassDef) and any(_last(base) == "Tool" for base in node.bases):
                tools.add(_tool_name(node))
    return Brings(tuple(sorted(tools)), tuple(sorted(hooks)), min(len(files), MOST))


def _files(top: str) -> Iterator[Path]:
    spec = PathFinder.find_spec(top)
    if spec is None:
        return
    if spec.submodule_search_locations is not None:
        for folder in spec.submodule_search_locations:
            yield from sorted(file for file in Path(folder).rglob("*.py") if "tests" not in file.parts)
    elif spec.origin and spec.origin.endswith(".py"):
        yield Path(spec.origin)


def _function(name: str, decorator: ast.expr, tools: set[str], hooks: set[str]) -> None:
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    words = {word.arg: word.value for word in decorator.keywords} if isinstance(decorator, ast.Call) else {}
    path = _path(called)
    if path[-1:] == ("tool",):
        tools.add(_text(words.get("name")) or name)
    elif path[-1:] == ("hookimpl",):
        hooks.add(_text(words.get("specname")) or name)
    else:
        after_on = path[path.index("on") + 1 :] if "on" in path else ()
        hooks.update(after_on[:1] if after_on[:1] and after_on[0] in on.__all__ else ())


def _tool_name(node: ast.ClassDef) -> str:
    for statement in node.body:
        named = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
        if any(isinstance(target, ast.Name) and target.id == "name" for target in named):
            return _text(getattr(statement, "value", None)) or node.name
    return node.name


def _text(node: ast.expr | None) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _path(node: ast.expr) -> tuple[str, ...]:
    if isinstance(node, ast.Attribute):
        return (*_path(node.value), node.attr)
    return (node.id,) if isinstance(node, ast.Name) else ()


def _last(base: ast.expr) -> str:
    inner = base.value if isinstance(base, ast.Subscript) else base
    return (_path(inner) or ("",))[-1]
