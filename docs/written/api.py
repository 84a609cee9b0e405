"""Writes reference/api.md: every public name, a line each."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from importlib import import_module

from written.source import FUNCTIONS, definition, home_of, is_property, lines_of, methods, said_of, tree_of

PACKAGES = ("toolpost", "toolpost.testing")
INTRODUCTION = """\
# The public API

<!-- Written by docs/generate.py from the docstrings; change those. -->

Everything that a plugin may import: a line for each name, with its signature and the first sentence of its docstring;
`help(toolpost.Tool)` shows the whole. Names are grouped by subject and imported from `toolpost`, the testing ones from
`toolpost.testing`: `from toolpost import Tool`. The lifecycle events, `toolpost.on`, have a [page of their own](hooks.md),
and the rules of the contract kits stand on the [page of each kind](../plugins/README.md). What is not listed here may change
in any release: see [versions](../plugins/migrating.md).
"""


def api_page() -> str:
    """Return reference/api.md."""
    return "\n".join([INTRODUCTION, *(line for package in PACKAGES for line in _package(package))])


def anchor(module: str) -> str:
    """Return the anchor of a module's part of the page."""
    return _title(module).lower().replace(": ", "-").replace(" ", "-")


def _package(package: str) -> Iterator[str]:
    by_module: dict[str, list[str]] = defaultdict(list)
    for name in import_module(package).__all__:
        if name != "on":
            by_module[home_of(package, name)].append(name)
    for module in sorted(by_module, key=_title):
        yield f"## {_title(module)}\n"
        yield _sentence(ast.get_docstring(tree_of(module)) or "") + "\n"
        for name in sorted(by_module[module]):
            yield from _entry(package, name)
        yield ""


def _title(module: str) -> str:
    """A module as a heading: `toolpost.events._base` is "Events: base"."""
    parts = [part.strip("_").replace("_", " ") for part in module.split(".")[1:]]
    return ": ".join([parts[0].capitalize(), *parts[1:]])


def _entry(package: str, name: str) -> Iterator[str]:
    module, node = home_of(package, name), definition(package, name)
    said = [_sentence(said_of(package, name))]
    if isinstance(node, ast.ClassDef) and (fields := _fields(module, node)):
        said.append(f"Fields: {', '.join(f'`{field}`' for field in fields)}.")
    yield _line(_signature(module, node, name), " ".join(filter(None, said)))
    if isinstance(node, ast.ClassDef):
        for method in methods(node):
            if method.name.startswith("test_"):
                continue
            what = f"{method.name}: {_returns(method)}" if is_property(method) else _call(module, method)
            yield "  " + _line(what, _sentence(ast.get_docstring(method) or ""))


def _line(signature: str, said: str) -> str:
    return f"- `{signature}`: {said}" if said else f"- `{signature}`"


def _sentence(text: str) -> str:
    """The first sentence, on one line."""
    line = " ".join(text.partition("\n\n")[0].split())
    return re.split(r"(?<=[.]) (?=[A-Z`])", line)[0].removesuffix(":")


def _signature(module: str, node: ast.stmt, name: str) -> str:
    if isinstance(node, FUNCTIONS):
        return _call(module, node)
    if isinstance(node, ast.ClassDef):
        bases = ", ".join(text for base in node.bases if (text := ast.unparse(base)) != "ABC")
        return f"class {node.name}({bases})" if bases else f"class {node.name}"
    value = getattr(node, "value", None)
    return f"{name} = {_source(module, value)}" if value is not None else name


def _fields(module: str, node: ast.ClassDef) -> list[str]:
    """The fields of a class, those of an instance only."""
    found = [item for item in node.body if isinstance(item, ast.AnnAssign)]
    own = [item for item in found if "ClassVar" not in ast.unparse(item.annotation)]
    return [_source(module, item) for item in own if not ast.unparse(item.target).startswith("_")]


def _call(module: str, node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    start = "async " if isinstance(node, ast.AsyncFunctionDef) else ""
    return f"{start}{node.name}({', '.join(_parameters(module, node.args))}) -> {_returns(node)}"


def _parameters(module: str, given: ast.arguments) -> Iterator[str]:
    plain = [*given.posonlyargs, *given.args]
    defaults = [*[None] * (len(plain) - len(given.defaults)), *given.defaults]
    for index, (argument, default) in enumerate(zip(plain, defaults, strict=True)):
        if argument.arg not in ("self", "cls"):
            yield _parameter(module, argument, default)
        if given.posonlyargs and index + 1 == len(given.posonlyargs):
            yield "/"
    if given.vararg is not None:
        yield "*" + _parameter(module, given.vararg, None)
    elif given.kwonlyargs:
        yield "*"
    for argument, default in zip(given.kwonlyargs, given.kw_defaults, strict=True):
        yield _parameter(module, argument, default)
    if given.kwarg is not None:
        yield "**" + _parameter(module, given.kwarg, None)


def _parameter(module: str, argument: ast.arg, default: ast.expr | None) -> str:
    hint = f": {ast.unparse(argument.annotation)}" if argument.annotation is not None else ""
    return argument.arg + hint + (f" = {_source(module, default)}" if default is not None else "")


def _returns(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    return ast.unparse(node.returns) if node.returns is not None else "Any"


def _source(module: str, node: ast.AST) -> str:
    """A node as it is written, on one line."""
    text = ast.get_source_segment("\n".join(lines_of(module)), node) or ""
    text = re.sub(r"\bfield\(default_factory=(\w+)\)", r"\1()", text)
    return " ".join(text.split()).replace("( ", "(").replace(", )", ")").replace(" )", ")")
