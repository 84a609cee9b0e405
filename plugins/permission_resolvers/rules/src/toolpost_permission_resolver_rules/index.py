"""Finds the few of many rules that may cover a call, by a word that whatever they cover must hold."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import lru_cache
from itertools import chain
from typing import Final

from toolpost.permissions import Behavior, Rule

from .names import is_about, parameter_of

_HEAD: Final = re.compile(r"\s*([^\s'\"\\:*]+)(?:\s|:\*$|$)")
_OPEN: Final = re.compile(r"[*?\[\\]")
_KEPT: Final = 8


class Shelf:
    """Rules by their key; those without one may cover anything."""

    def __init__(self, rules: Iterable[Rule], key: Callable[[str], str | None]) -> None:
        self.all = tuple(rules)
        self._open: list[int] = []
        self._keyed: dict[str, list[int]] = {}
        self._behaviors = {rule.behavior for rule in self.all if rule.specifier is not None}
        for at, rule in enumerate(self.all):
            word = key(rule.specifier or "")
            (self._open if word is None else self._keyed.setdefault(word, [])).append(at)

    @property
    def words(self) -> Collection[str]:
        """The words by which rules are found."""
        return self._keyed.keys()

    @property
    def open(self) -> Sequence[Rule]:
        """The rules that may cover anything."""
        return [self.all[at] for at in self._open]

    def has(self, behavior: Behavior) -> bool:
        """Whether any of them has this behavior and a specifier."""
        return behavior in self._behaviors

    def near(self, words: Iterable[str] | None) -> Sequence[Rule]:
        """The rules that may cover what has these words, in their order; all of them where the words are not known."""
        if words is None:
            return self.all
        found = chain(self._open, *(self._keyed[word] for word in set(words) if word in self._keyed))
        return [self.all[at] for at in sorted(found)]


class About(Shelf):
    """The rules about one tool, by the first word of their specifier."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        super().__init__(rules, _head)
        self.whole = tuple(rule for rule in self.all if rule.specifier is None)
        self._by_parameter: dict[str, list[Rule]] = {}
        for rule in self.all:
            if name := parameter_of(rule):
                self._by_parameter.setdefault(name, []).append(rule)

    def with_parameters(self, names: Iterable[str]) -> list[Rule]:
        """The rules about the value of one of these parameters of the tool."""
        return [rule for name in names for rule in self._by_parameter.get(name, ())]


class Index:
    """The rules of one session."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.rules = tuple(rules)
        self.whole = tuple(rule for rule in self.rules if rule.specifier is None)
        self._about: dict[tuple[str, ...], About] = {}
        self._files: dict[frozenset[str], Shelf] = {}

    def about(self, tool: str, old_names: tuple[str, ...] = ()) -> About:
        """The rules about a tool; what they allow under its old names does not count."""
        names = (tool, *old_names)
        if names not in self._about:
            found = (
                rule
                for rule in self.rules
                if is_about(rule, tool) or (rule.behavior != "allow" and any(is_about(rule, old) for old in old_names))
            )
            self._about[names] = About(found)
        return self._about[names]

    def files(self, tools: frozenset[str]) -> Shelf:
        """These tools' rules with a specifier, by a folder's or file's name that stands in it."""
        if tools not in self._files:
            self._files[tools] = Shelf((r for r in self.rules if r.specifier is not None and r.tool in tools), _name)
        return self._files[tools]


def index_of(rules: Sequence[Rule]) -> Index:
    """The index of a session's rules; of a tuple, which can't change, it is kept for the next decision."""
    return _kept(_Same(rules)) if isinstance(rules, tuple) else Index(rules)


class _Same:
    """Rules that are the same only if they are the very same object: comparing thousands would take longer than all else."""

    __slots__ = ("rules",)

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.rules = rules

    def __hash__(self) -> int:
        return id(self.rules)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.rules is self.rules


@lru_cache(maxsize=_KEPT)
def _kept(same: _Same) -> Index:
    return Index(same.rules)


def folded(name: str) -> str:
    """A name as those file systems take it that know no case and drop trailing dots and blanks."""
    name = name.partition(":")[0] or name
    return (name.rstrip(". ") or name).casefold()


def _head(specifier: str) -> str | None:
    """The first word of a specifier; None where it is not plain or there is none."""
    match = _HEAD.match(specifier)
    return match[1] if match else None


def _name(specifier: str) -> str | None:
    """The last name in a pattern that stands for itself alone; None where there is none."""
    names = (name for name in reversed(specifier.strip().split("/")) if name not in ("", ".", "..", "~"))
    return next((folded(name) for name in names if not _OPEN.search(name)), None)
