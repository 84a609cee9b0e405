"""Writes the parts of plugins/*.md that follow from the code: contract, shipped plugins, settings, the kit's rules."""

from __future__ import annotations

import dataclasses
import inspect
import json
import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import toolpost
from toolpost import ListenerOptions, ServiceOffer, Services, specs, testing
from toolpost_core.plugins.groups import KINDS
from toolpost_core.plugins.scaffold import kinds as scaffold

from written.api import anchor
from written.source import quoted, quoted_function

ROOT = Path(__file__).parents[2]
TEMPLATES = Path(scaffold.__file__).parent / "templates"
MEMBERS = ("builtin_tools/*", "plugins/*/*", "docs/examples/*")
KITS = {"tools": "ToolContract", "lifecycle": "LifecycleContract", "services": "ServiceContract"}
TRUST = "../explanation/trust.md"
UNUSED = """\
No part of the standard set asks for plugins of this kind yet: one can be written, tested and installed, and a session does
not use it until there is one."""


class Shipped(NamedTuple):
    """A plugin in this repository: its folder, entry name and value, distribution, and what it is for."""

    folder: Path
    name: str
    value: str
    distribution: str
    what: str


def plugin_pages(folder: Path) -> dict[Path, str]:
    """Return the pages of plugins/ that have written parts, with their text."""
    pages = {folder / "README.md": {"kinds": _index()}} | {folder / f"{group}.md": parts(group) for group in KINDS}
    return {page: _filled(page.read_text(encoding="utf-8"), written) for page, written in pages.items()}


def _filled(page: str, written: Mapping[str, str]) -> str:
    for name, text in written.items():
        begin, end = marks(name)
        before, found, rest = page.partition(begin)
        _, closed, after = rest.partition(end)
        if not found or not closed:
            raise ValueError(f"{page.partition(chr(10))[0]!r} has no part {name!r}: put {begin!r} and {end!r} there")
        page = f"{before}{begin}\n{text}\n{end}{after}"
    return page


def marks(part: str) -> tuple[str, str]:
    """Return what stands before and after a written part."""
    return f"<!-- begin {part}: written by docs/generate.py -->", f"<!-- end {part} -->"


def parts(group: str) -> dict[str, str]:
    """Return the written parts of a kind's page, by name."""
    return {
        "contract": "\n".join(_contract(group)),
        "real": "\n".join(_real(group)),
        "rules": "\n".join(_rules(group)),
        "settings": "\n".join(_settings(group)),
    }


def _index() -> str:
    rows = [
        f"| [{_title(group)}]({group}.md) | `toolpost.{group}` | {_base(group)} | `{kit_of(group).__name__}` |"
        for group in KINDS
    ]
    return "\n".join(["| kind | entry-point group | an entry is | contract kit |", "|---|---|---|---|", *rows])


def kit_of(group: str) -> type[Any]:
    """Return the contract kit of a kind."""
    name = KITS.get(group)
    if name is None:
        kits = (getattr(testing, name) for name in testing.__all__ if name.endswith("Contract"))
        name = next(kit.__name__ for kit in kits if getattr(kit, "group", None) == group)
    return getattr(testing, name)  # type: ignore[no-any-return]


def shipped(group: str) -> list[Shipped]:
    """Return the plugins of a kind in this repository, those of the standard set first."""
    return [plugin for member in MEMBERS for folder in sorted(ROOT.glob(member)) for plugin in _entries(folder, group)]


def _entries(folder: Path, group: str) -> Iterator[Shipped]:
    file = folder / "pyproject.toml"
    if file.is_file():
        project = tomllib.loads(file.read_text(encoding="utf-8"))["project"]
        what = project.get("description", "").removeprefix("Toolpost plugin: ")
        for name, value in project.get("entry-points", {}).get(f"toolpost.{group}", {}).items():
            yield Shipped(folder, name, value, project["name"], _begun_small(what))


def _begun_small(text: str) -> str:
    """Return a text to go on a sentence with; a name at its beginning stays as it is."""
    return text if text[1:2].isupper() else text[:1].lower() + text[1:]


def _title(group: str) -> str:
    page = ROOT / f"docs/plugins/{group}.md"
    return page.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ").strip()


def _base(group: str) -> str:
    if group == "tools":
        return "what `@tool` makes, or a `Tool`"
    if group == "lifecycle":
        return "a module or object with `@on.…` functions"
    if group == "services":
        return "a `Plugin` with the hook `services`"
    article = "an" if KINDS[group][0] in "AEIOU" else "a"
    return f"{article} `{KINDS[group]}`"


def _contract(group: str) -> Iterator[str]:
    yield f"- entry-point group: `toolpost.{group}`"
    yield f"- an entry is {_base(group)}"
    if group == "lifecycle":
        yield "- the events, each with when, how often, what an answer does: [lifecycle events](../reference/hooks.md)"
    else:
        who = "the plugin" if group == "services" else "the base class"
        yield f"- registration hook: `{group}()`, which {who} implements"
        module = getattr(toolpost, KINDS[group]).__module__
        yield f"- the types in it: [{module}](../reference/api.md#{anchor(module)})"
    if not _asked_for(group):
        yield f"\n{UNUSED}"
    yield "\n```python"
    yield _quoted(group)
    yield "```"
    yield from _new(group)


def _new(group: str) -> Iterator[str]:
    words = [word for word, kind in scaffold.KINDS.items() if kind.group == group]
    commands = " or ".join(f"`toolpost plugins new NAME --kind {word}`" for word in words)
    yield f"\n{commands} writes a distribution to begin with. Its `toolpost.toml` says what it [needs]({TRUST}):\n"
    yield "```toml"
    yield (TEMPLATES / words[0] / "toolpost.toml.txt").read_text(encoding="utf-8").strip()
    yield "```"


def _quoted(group: str) -> str:
    if group == "lifecycle":
        return f"{quoted(ListenerOptions)}\n\n\n{quoted_function(specs.__name__, 'listeners')}"
    if group == "services":
        hook = quoted_function(specs.__name__, "services")
        return "\n\n\n".join([quoted(ServiceOffer), quoted(Services), hook])
    base: type[Any] = getattr(toolpost, KINDS[group])
    return quoted(base)


def _asked_for(group: str) -> bool:
    """Whether core asks its registry for plugins of a kind."""
    call = re.compile(rf'\.(collect|in_order|one|names)\(\s*"{group}"')
    return any(call.search(file.read_text(encoding="utf-8")) for file in ROOT.glob("core/src/**/*.py"))


def _real(group: str) -> Iterator[str]:
    found = shipped(group)
    for plugin in found:
        where = os.path.relpath(plugin.folder, ROOT / "docs/plugins")
        yield f"- [{plugin.name}]({where}/) (`{plugin.distribution}`): {plugin.what}"
    if not found:
        yield "None ships yet."


def _settings(group: str) -> Iterator[str]:
    rows = [row for plugin in shipped(group) for row in _fields(plugin)]
    if not rows:
        yield "No plugin of this kind that ships has settings."
        return
    yield "What ships has these:\n"
    yield "| plugin | setting | type | default |"
    yield "|---|---|---|---|"
    yield from rows


def _fields(plugin: Shipped) -> Iterator[str]:
    module, _, name = plugin.value.partition(":")
    if not plugin.folder.is_relative_to(ROOT / "docs"):
        found = getattr(import_module(module), name, None)
        for field in dataclasses.fields(found) if dataclasses.is_dataclass(found) else ():
            kind = str(field.type).replace("|", "\\|")
            yield f"| {plugin.name} | `{field.name}` | `{kind}` | {_default(field)} |"


def _default(field: dataclasses.Field[Any]) -> str:
    if field.default is not dataclasses.MISSING:
        return f"`{json.dumps(field.default, default=str)}`"
    return "must be given" if field.default_factory is dataclasses.MISSING else f"`{field.default_factory()!r}`"


def _rules(group: str) -> Iterator[str]:
    kit = kit_of(group)
    yield f"`{kit.__name__}` holds the plugin to these rules:\n"
    yield "| rule | if it fails |"
    yield "|---|---|"
    for name, test in _tests(kit).items():
        said = " ".join((inspect.getdoc(test) or "").partition("\n\n")[0].split())
        mend = said.removeprefix("If this fails: ").replace("|", "\\|")
        yield f"| {name.removeprefix('test_').replace('_', ' ')} | {mend} |"


def _tests(kit: type[Any]) -> dict[str, Any]:
    return {
        name: test for base in reversed(kit.__mro__) for name, test in vars(base).items() if name.startswith("test_")
    }
