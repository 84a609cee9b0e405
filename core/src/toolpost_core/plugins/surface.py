"""The hooks that a version of the hookspecs declares, as its source says: nothing of it is run."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from importlib.resources.abc import Traversable
from typing import Final, NamedTuple

from toolpost import PluginError

NEVER: Final = "None"


class Hook(NamedTuple):
    """One hook. `takes` has the arguments, `event` and `answer` the fields of an event and its outcome, with their types.

    `shape` is equal for two hooks that are the same but for their names; `kind` is empty for a registration hook.
    """

    kind: str
    takes: Mapping[str, str]
    event: Mapping[str, str]
    answer: Mapping[str, str]
    shape: tuple[str, ...]


class Change(NamedTuple):
    """What is different of one hook; `breaks` says that an implementation may no longer work."""

    hook: str
    text: str
    breaks: bool


def surface(package: Traversable) -> dict[str, Hook]:
    """Return the hooks of a package `toolpost`, by name. Raises PluginError for one that declares none."""
    trees = [ast.parse(file.read_bytes()) for file in _sources(package)]
    classes = {node.name: node for tree in trees for node in tree.body if isinstance(node, ast.ClassDef)}
    functions = [node for tree in trees for node in tree.body if isinstance(node, ast.FunctionDef)]
    found = {node.name: hook for node in functions if (hook := _hook(node, classes)) is not None}
    if not found:
        raise PluginError(f"{package} declares no hooks: it is no toolpost-hookspecs.")
    return found


def changes(old: Mapping[str, Hook], new: Mapping[str, Hook]) -> Iterator[Change]:
    """Yield how the hooks of two versions differ, hook by hook."""
    fresh = {name: hook for name, hook in new.items() if name not in old}
    for name, hook in sorted(old.items()):
        if name in new:
            yield from _differences(name, hook, new[name])
        else:
            again = [other for other, its in fresh.items() if its.shape == hook.shape]
            yield Change(name, f"is now called {again[0]}" if len(again) == 1 else "is gone", breaks=True)
    for name in sorted(fresh):
        yield Change(name, "is new", breaks=False)


def _sources(package: Traversable) -> Iterator[Traversable]:
    """Yield the modules of a package and of those in it; the contract kits declare no hooks."""
    for item in package.iterdir():
        if item.name.endswith(".py"):
            yield item
        elif item.is_dir() and item.name != "testing":
            yield from _sources(item)


def _hook(node: ast.FunctionDef, classes: Mapping[str, ast.ClassDef]) -> Hook | None:
    for decorator in node.decorator_list:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        name = called.id if isinstance(called, ast.Name) else ""
        takes = {argument.arg: _text(argument.annotation) for argument in (*node.args.args, *node.args.kwonlyargs)}
        returns = _text(node.returns)
        if name == "hookspec":
            return Hook("", takes, {}, {}, (*takes, *takes.values(), returns))
        if name == "event" and isinstance(decorator, ast.Call):
            event = next(iter(takes.values()), "")
            answer = returns.removesuffix(f" | {NEVER}")
            kind = ast.literal_eval(decorator.args[0]) if decorator.args else ""
            if event not in classes or answer not in (NEVER, *classes):
                raise PluginError(f"the hook {node.name} names a class that is not there: {event} or {answer}")
            fields = _fields(event, classes), _fields(answer, classes)
            return Hook(str(kind), {}, *fields, (str(kind), event, answer))
    return None


def _fields(name: str, classes: Mapping[str, ast.ClassDef]) -> dict[str, str]:
    """Return the annotated fields of a class and of its bases in the package."""
    node = classes.get(name)
    if node is None:
        return {}
    found: dict[str, str] = {}
    for base in node.bases:
        found |= _fields(_text(base), classes)
    own = (item for item in node.body if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name))
    return found | {_text(item.target): _text(item.annotation) for item in own}


def _differences(name: str, old: Hook, new: Hook) -> Iterator[Change]:
    if old.kind != new.kind:
        yield Change(
            name, f"is of the kind {new.kind or 'registration'} (was {old.kind or 'registration'})", breaks=True
        )
    # An implementation takes all that a hook passes, so that one argument more is not in it.
    yield from _between(name, "the argument", old.takes, new.takes, more_breaks=True)
    yield from _between(name, "the event's field", old.event, new.event)
    yield from _between(name, "the answer's field", old.answer, new.answer)


def _between(
    name: str, what: str, old: Mapping[str, str], new: Mapping[str, str], *, more_breaks: bool = False
) -> Iterator[Change]:
    for key in _both(old, new):
        if key not in new:
            yield Change(name, f"{what} {key} is gone", breaks=True)
        elif key not in old:
            yield Change(name, f"{what} {key}: {new[key]} is new", breaks=more_breaks)
        elif old[key] != new[key]:
            yield Change(name, f"{what} {key} is {new[key]} (was {old[key]})", breaks=True)


def _both(old: Iterable[str], new: Iterable[str]) -> list[str]:
    return list(dict.fromkeys((*old, *new)))


def _text(node: ast.expr | None) -> str:
    return ast.unparse(node) if node is not None else ""
