"""What is broken: a plugin, and for each rule of its contract kit one change to a copy of its source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from textwrap import indent
from typing import Any

TOOLBOX = "\n\nimport asyncio, contextlib, itertools, pathlib, time\n\nimport toolpost\n\nCOUNT = itertools.count()\n"
"""What every file that is edited has at its end."""


@dataclass(frozen=True)
class Edit:
    """One change to the text of a file: `old` becomes `new`; without `old`, `new` is added at the end.

    `new` may use what TOOLBOX has.
    """

    old: str
    new: str
    file: str = ""

    def applied(self, text: str) -> str:
        """Return the text with the change. Raises ValueError where `old` is not in it exactly once."""
        if not self.old:
            return f"{text}\n\n{self.new}\n"
        if text.count(self.old) != 1:
            raise ValueError(f"{self.old!r} is in the source {text.count(self.old)} times, not once: mend its row")
        return text.replace(self.old, self.new)


def swap(old: str, new: str, *, file: str = "") -> Edit:
    """Put one text in the place of another."""
    return Edit(old, new, file)


def under(line: str, code: str, *, depth: int = 2, file: str = "") -> Edit:
    """Add code under a line, `depth` levels deep."""
    return Edit(f"{line}\n", f"{line}\n{indent(code, depth * '    ')}\n", file)


def at_the_end(code: str) -> Edit:
    """Add code to the end of the module."""
    return Edit("", code)


@dataclass(frozen=True, kw_only=True)
class Subject:
    """A plugin that keeps the rules of its kit, and how each is broken.

    `project` is the folder of one that ships, or the word after `plugins new --kind`. `opening` is the first line of its
    class, in `file`, where edits are made that name no other. `kit` is the class in its test_contract.py that is run;
    `tests` are added to that file. `rules` maps each rule's test to the edit that breaks it; `groundwork` those that
    others rest on, which fail with them. `also` is done to every copy, where a plugin has nothing that a rule could hold
    it to.
    """

    contract: type[Any]
    project: str
    opening: str
    kit: str
    rules: Mapping[str, Edit]
    file: str = "__init__.py"
    tests: str = ""
    also: Edit | None = None
    groundwork: Mapping[str, Edit] = field(default_factory=dict)

    def edits(self, edit: Edit | None) -> Sequence[Edit]:
        """Return what is done to one copy: what is done to all, and the edit that breaks it."""
        return [replace(one, file=one.file or self.file) for one in (self.also, edit) if one is not None]

    @property
    def every_rule(self) -> Mapping[str, Edit]:
        """The edits of this kind, and those that break what holds for plugins of every kind."""
        shared = {rule: self._of_every_kind(rule) for rule in OF_EVERY_KIND if hasattr(self.contract, rule)}
        return {**shared, **self.rules, **self.groundwork}

    def _of_every_kind(self, rule: str) -> Edit:
        code = OF_EVERY_KIND[rule]
        if rule.startswith("test_importing"):
            return at_the_end(code)
        return under(self.opening, code.format(group=getattr(self.contract, "group", "")), depth=1)


OF_EVERY_KIND: Mapping[str, str] = {
    "test_importing_it_is_quick": "import time\nbegan = time.process_time()\nwhile time.process_time() - began < 0.06: pass",
    "test_importing_it_loads_no_heavy_library": "import pygments",
    "test_it_registers_itself_under_its_kind": "_{group} = None",
    "test_its_settings_have_a_schema_and_refuse_unknown_keys": "odd: type[BaseException] | BaseException = OSError()",
}
"""Code that breaks a rule which holds for plugins of every kind: at the end of the module, or in the class."""
