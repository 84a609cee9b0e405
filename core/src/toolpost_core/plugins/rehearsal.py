"""What would change with another version of the hookspecs, or of a plugin's distribution: read from its wheel."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import NamedTuple

import toolpost
from toolpost import HOOKSPEC_VERSION, PluginError
from toolpost_core.plugins.capabilities import FILE, Capabilities, embedded, parse
from toolpost_core.plugins.discover import HOOKSPECS
from toolpost_core.plugins.lock import capability_changes
from toolpost_core.plugins.scan import Entry, Inventory
from toolpost_core.plugins.source import brings, look
from toolpost_core.plugins.surface import changes, surface
from toolpost_core.plugins.versions import allows
from toolpost_core.plugins.wheels import Unpacked


class Difference(NamedTuple):
    """One thing that would be different: `what` it is of (a hook, an entry point, a tool …), which one, and how.

    `breaks` says that something may no longer work; `plugins` are those that are on and implement the hook.
    """

    what: str
    name: str
    text: str
    breaks: bool
    plugins: tuple[str, ...] = ()


def hook_differences(found: Unpacked, implemented: Mapping[str, Sequence[str]]) -> list[Difference]:
    """Hold the hooks of another version of the hookspecs against those that are installed. Raises PluginError.

    `implemented` has the plugins that implement each hook.
    """
    try:
        old = surface(Path(toolpost.__file__).parent)
        new = surface(found.root / "toolpost")
    except (OSError, SyntaxError, ValueError) as error:
        raise PluginError(f"its hooks can't be read: {error}") from error
    return [
        Difference("hook", change.hook, change.text, change.breaks, tuple(implemented.get(change.hook, ())))
        for change in changes(old, new)
    ]


def own_differences(found: Unpacked, entries: Sequence[Entry], inventory: Inventory) -> list[Difference]:
    """Hold another version of a plugin's distribution against the one that is installed. Raises PluginError."""
    return [
        *_range(found, entries[0]),
        *_entry_points(found, {(entry.group, entry.name): entry.value for entry in entries}),
        *_brought(found, entries),
        *_capabilities(found, entries, inventory),
    ]


def _range(found: Unpacked, entry: Entry) -> Iterator[Difference]:
    now = found.requires(HOOKSPECS)
    if not allows(now, HOOKSPEC_VERSION):
        text = f"{now} is wanted, and {HOOKSPEC_VERSION} is installed: it would be refused"
        yield Difference("range", HOOKSPECS, text, breaks=True)
    elif now != entry.requires:
        text = f"{now or 'any'} is wanted (was {entry.requires or 'any'}), and {HOOKSPEC_VERSION} is installed"
        yield Difference("range", HOOKSPECS, text, breaks=False)


def _entry_points(found: Unpacked, old: Mapping[tuple[str, str], str]) -> Iterator[Difference]:
    new = found.entries()
    for group, name in sorted({*old, *new}):
        before, after = old.get((group, name)), new.get((group, name))
        if before != after:
            text = f"is {after} (was {before})" if before and after else f"is new: {after}" if after else "is gone"
            yield Difference("entry point", f"toolpost.{group} {name}", text, breaks=after is None)


def _brought(found: Unpacked, entries: Sequence[Entry]) -> Iterator[Difference]:
    """What the sources of both name; what a plugin makes as it runs is not among them."""
    old = [look(entry) for entry in entries]
    tops = {value.partition(":")[0].partition(".")[0] for value in found.entries().values()}
    new = brings(list(_modules(found, tops)))
    for what, before, after in (
        ("tool", {name for one in old for name in one.tools}, {*new.tools}),
        ("implemented hook", {name for one in old for name in one.hooks}, {*new.hooks}),
    ):
        yield from (Difference(what, name, "is gone", breaks=True) for name in sorted(before - after))
        yield from (Difference(what, name, "is new", breaks=False) for name in sorted(after - before))


def _modules(found: Unpacked, tops: Iterable[str]) -> Iterator[Traversable]:
    for top in sorted(tops):
        for place in (found.root / f"{top}.py", found.root / top):
            yield from _python(place)


def _python(place: Traversable) -> Iterator[Traversable]:
    if place.is_dir():
        for item in sorted(place.iterdir(), key=lambda item: item.name):
            if item.name != "tests":
                yield from _python(item)
    elif place.is_file() and place.name.endswith(".py"):
        yield place


def _capabilities(found: Unpacked, entries: Sequence[Entry], inventory: Inventory) -> Iterator[Difference]:
    """What each entry's package declares, before and after."""
    values = found.entries()
    for entry in entries:
        value = values.get((entry.group, entry.name))
        if value is None:
            continue
        before, after = inventory.capabilities(entry), _declared(found.root, value.partition(":")[0].strip())
        if after is not None and after.mistake:
            text = f"what it needs can't be read ({after.mistake}): it would be refused"
            yield Difference("capabilities", entry.name, text, breaks=True)
            continue
        old, new = (one.as_values() if one is not None and not one.mistake else None for one in (before, after))
        for text in capability_changes(old, new):
            yield Difference("capabilities", entry.name, text.removeprefix("capability "), breaks=False)


def _declared(root: Traversable, module: str) -> Capabilities | None:
    """What a module's package in a wheel declares, or the module itself."""
    folder = root
    *parents, name = module.split(".")
    for part in (*parents, name):
        folder = folder / part
        if (folder / "__init__.py").is_file() or (folder / FILE).is_file():
            file = folder / FILE
            return parse(file.read_text(encoding="utf-8"), str(file)) if file.is_file() else None
    file = root.joinpath(*parents, f"{name}.py")
    return embedded(file.read_text(encoding="utf-8"), str(file)) if file.is_file() else None
