"""Quotes classes and functions from their source: signatures and docstrings, no bodies."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import Any, TypeAlias

Definition: TypeAlias = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@cache
def lines_of(module: str) -> list[str]:
    """Return a module's source, line by line."""
    return inspect.getsource(import_module(module)).splitlines()


@cache
def tree_of(module: str) -> ast.Module:
    """Return a module's syntax tree."""
    return ast.parse("\n".join(lines_of(module)))


@cache
def homes(module: str) -> dict[str, str]:
    """Return where each name of a lazy module is defined, from its call of `attach`."""
    calls = [node for node in ast.walk(tree_of(module)) if isinstance(node, ast.Call)]
    call = next(node for node in calls if isinstance(node.func, ast.Name) and node.func.id == "attach")
    base = next((ast.literal_eval(word.value) for word in call.keywords if word.arg == "base"), module)
    table: dict[str, tuple[str, ...]] = ast.literal_eval(call.args[1])
    return {name: f"{base}.{where}" for where, names in table.items() for name in names}


def definition(module: str, name: str) -> ast.stmt:
    """Return the statement that defines a name, which a module has or takes from another."""
    return _located(module, name)[1]


def home_of(module: str, name: str) -> str:
    """Return the module that has the statement that defines a name."""
    return _located(module, name)[0]


def said_of(module: str, name: str) -> str:
    """Return the docstring of a name: of a class or function, or the text that follows an assignment."""
    module, node = _located(module, name)
    if isinstance(node, Definition):
        return ast.get_docstring(node) or ""
    body = tree_of(module).body
    after = body[body.index(node) + 1 :]
    text = _text(after[0]) if after else None
    return inspect.cleandoc(text) if text else ""


def quoted(kind: type[Any]) -> str:
    """Return a class as its source has it: fields, and methods with their docstrings in place of their bodies."""
    module = kind.__module__
    node = definition(module, kind.__name__)
    assert isinstance(node, ast.ClassDef)
    parts = [_lines(module, _first(node), _doc_end(node))]
    for index, item in enumerate(node.body):
        if isinstance(item, FUNCTIONS) and not item.name.startswith("_"):
            parts.append("\n" + _function(module, item))
        elif isinstance(item, ast.AnnAssign) and not _names(item)[0].startswith("_"):
            follows = node.body[index + 1] if index + 1 < len(node.body) else item
            end = follows if _text(follows) is not None else item
            blank = "\n" if index and not isinstance(node.body[index - 1], ast.AnnAssign) else ""
            parts.append(blank + _lines(module, item.lineno, end.end_lineno or item.lineno))
    return "\n".join(parts)


def quoted_function(module: str, name: str) -> str:
    """Return a function's signature and docstring."""
    module, node = _located(module, name)
    assert isinstance(node, FUNCTIONS)
    return _function(module, node)


def methods(node: ast.ClassDef) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Yield a class's public methods."""
    yield from (item for item in node.body if isinstance(item, FUNCTIONS) and not item.name.startswith("_"))


def is_property(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a method is read like an attribute."""
    return any(isinstance(mark, ast.Name) and mark.id == "property" for mark in node.decorator_list)


def _located(module: str, name: str) -> tuple[str, ast.stmt]:
    while True:
        body = tree_of(module).body
        # Of overloads the last one is the function.
        node = next((node for node in reversed(body) if name in _names(node)), None)
        if node is not None:
            return module, node
        lazy = any(_is_attach(node) for node in body)
        module = homes(module)[name] if lazy else _imported_from(module, name)


def _function(module: str, node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    text = _lines(module, _first(node), _doc_end(node))
    return text if ast.get_docstring(node) is not None else f"{text} ..."


def _first(node: Definition) -> int:
    return min([node.lineno, *(mark.lineno for mark in node.decorator_list)])


def _doc_end(node: Definition) -> int:
    """The last line of the docstring, or of the signature where there is none."""
    if _text(node.body[0]) is not None:
        return node.body[0].end_lineno or node.lineno
    return max(node.lineno, node.body[0].lineno - 1)


def _lines(module: str, first: int, last: int) -> str:
    return "\n".join(lines_of(module)[first - 1 : last])


def _text(node: ast.stmt) -> str | None:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
        return node.value.value
    return None


def _names(node: ast.stmt) -> tuple[str, ...]:
    if isinstance(node, Definition):
        return (node.name,)
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return tuple(target.id for target in targets if isinstance(target, ast.Name))


def _is_attach(node: ast.stmt) -> bool:
    value = node.value if isinstance(node, ast.Assign) else None
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "attach"


def _imported_from(module: str, name: str) -> str:
    for node in ast.walk(tree_of(module)):
        if isinstance(node, ast.ImportFrom) and node.module and any(alias.name == name for alias in node.names):
            return node.module
    raise LookupError(f"{module} does not say where {name} comes from")
