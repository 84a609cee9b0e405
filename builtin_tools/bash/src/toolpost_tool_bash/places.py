"""Where a command line's relative paths lead: the folders it may be in, and the values that are sure."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path

from .arguments import NUMBER, Argument, Elements, Found, holds_number
from .syntax import Script, Simple

_MOST_MATCHES = 500
_MOST_FOLDERS = 4
_FROM_OUTSIDE = ("HOME", "PWD")
# Another name for the folder that the command is in; to whoever decides it would mean another one.
_OWN_FOLDER = re.compile(r"/proc/(?:self|thread-self|\d+)(?:/task/\d+)?/cwd(?=/|$)")
# Brackets that mean the same to everybody; what others match is left open.
_PLAIN_BRACKETS = re.compile(r"\[[!^]?[\w-]+\]|\[[*?[]\]")


@dataclass
class Place:
    """Where the shell is at a point of the line: its folders (none where that can't be said), variables and functions.

    `values` holds what is sure. Unless it is `followed`, an assignment may mean something else than it says; unless it is
    `steady`, any command may go elsewhere. `start` are the folders that the line began in. Where `globs_vary` a wildcard may
    match more than it does by default, such as hidden files. `found` are the files whose names a command gets in its pipe.
    """

    folders: tuple[str, ...]
    values: dict[str, str | None]
    functions: set[str] = field(default_factory=set)
    followed: bool = True
    steady: bool = True
    start: tuple[str, ...] = ()
    globs_vary: bool = False
    found: Found | None = None

    def copy(self) -> Place:
        """A subshell's own place."""
        own = dict(self.values), set(self.functions)
        return Place(self.folders, *own, self.followed, self.steady, self.start, self.globs_vary)

    def elsewhere(self) -> Place:
        """The place of another shell, which knows nothing of this one's functions and variables."""
        values = {name: self.values.get(name) for name in _FROM_OUTSIDE}
        return Place(self.folders, values, steady=self.steady, start=self.start, globs_vary=self.globs_vary)

    def assign(self, name: str, value: str | None) -> None:
        """Note an assignment."""
        self.values[name] = value if self.followed else None
        self.values.pop(f"{name}[@]", None)

    def fill(self, name: str, elements: Sequence[str]) -> None:
        """Note that a variable becomes an array of these elements."""
        self.assign(name, None)
        if self.followed and elements:
            self.values[f"{name}[@]"] = Elements("".join(f"{text}\0" for text in elements))

    def forget(self, *, for_good: bool) -> None:
        """Go on without the values of the line's own variables, and `for_good` without following them any more."""
        self.values = {name: self.values.get(name) for name in _FROM_OUTSIDE}
        self.followed = self.followed and not for_good

    def blur(self, before: Mapping[str, str | None]) -> None:
        """Go on without the values that were changed by what may not have run."""
        for name, value in self.values.items():
            old = before.get(name)
            if value is not old and (value != old or type(value) is not type(old)):
                self.values[name] = NUMBER if holds_number(value) and holds_number(old) else None

    def move(self, folders: tuple[str, ...], *, sure: bool) -> None:
        """Go on in other folders; unless `sure`, the shell may as well have stayed where it was."""
        folders = folders if self.steady else ()
        both = folders if sure else tuple(dict.fromkeys((*self.folders, *folders)))
        self.folders = both if len(both) <= _MOST_FOLDERS and folders else ()
        self.values["PWD"] = self.folders[0] if len(self.folders) == 1 else None

    def stay_in(self, seen: Sequence[tuple[str, ...]]) -> None:
        """Go on in any of the folders that were seen on the way."""
        if len(set(seen)) > 1:
            self.move(tuple(dict.fromkeys(chain(*seen))) if all(seen) else (), sure=True)

    def lose(self) -> None:
        """Go on without knowing where."""
        self.move((), sure=True)

    def wander(self) -> None:
        """Go on where any command may go elsewhere."""
        self.steady = False
        self.lose()

    def guesses(self, arg: Argument) -> list[Path]:
        """The files that an argument names if the shell is still where it began and what is not known of it is empty.

        That is enough for a deny rule and for what must not be removed, and for nothing else.
        """
        begun = Place(self.start, {})
        if not arg.known and not arg.text and arg.scripts and (printed := _printed(arg.scripts[0])):
            arg = arg._replace(text=printed + arg.sure, known=True)
        elif not arg.known and arg.sure.startswith("/"):
            arg = arg._replace(text=arg.sure, known=True)
        return begun.paths(arg) or []

    def paths(self, arg: Argument) -> list[Path] | None:
        """The files that an argument may name; None where that is only known once the line runs."""
        if not arg.known or (arg.wild and self.globs_vary):
            return None
        spellings = self._spellings(_pattern(arg) if arg.wild else arg.text)
        if spellings is None:
            return None
        if not arg.wild:
            return [Path(spelling) for spelling in spellings]
        found: list[Path] = []
        for spelling in spellings:
            matched = list(islice(_glob(spelling), _MOST_MATCHES + 1))
            if not matched and "/../" in spelling:
                # The folder in front may be a link that the line makes.
                matched = list(islice(_glob(os.path.normpath(spelling)), _MOST_MATCHES + 1))
            if len(matched) > _MOST_MATCHES:
                return None
            found.extend(Path(match) for match in matched)
            found.append(_base(spelling))
        return found

    def _spellings(self, text: str) -> list[str] | None:
        if text.startswith("/"):
            own = _OWN_FOLDER.match(text)
            if not own:
                return [text]
            text = "." + text[own.end() :]
        # Joined as text: `..` is resolved with the links, not before.
        return [os.path.join(folder, text) for folder in self.folders] or None  # noqa: PTH118 - a Path would lose what the text ends in


def _printed(script: Script) -> str:
    """What a substitution by `pwd` or `echo` prints; nothing for another one, or where that is not in the line."""
    stages = script.items[0].stages if len(script.items) == 1 else ()
    words = [word.bare for word in stages[0].words] if len(stages) == 1 and isinstance(stages[0], Simple) else []
    if words[:1] == ["pwd"]:
        return "."
    return words[1] or "" if len(words) == 2 and words[0] == "echo" else ""


def _pattern(arg: Argument) -> str:
    """The pattern of an argument, or one that matches more where brackets are not plain."""
    pattern = (arg.pattern or arg.text).replace("[^", "[!")
    for component in pattern.split("/"):
        rest = _PLAIN_BRACKETS.sub("", component)
        if "[" in rest:
            return pattern.replace(component, component[: component.index("[")] + "*")
    return pattern


def _glob(pattern: str) -> Iterator[str]:
    return glob.iglob(pattern)  # noqa: PTH207 - Path.glob wants relative patterns


def _base(pattern: str) -> Path:
    """The deepest folder in front of the first wildcard; where that is part of a name, some such name in there."""
    parts = Path(pattern).parts
    first = next((i for i, part in enumerate(parts) if set(part) & set("*?[")), len(parts))
    named = first < len(parts) and re.search(r"\w", re.sub(r"\[.*\]", "", parts[first]))
    return Path(*parts[: first + 1] if named else parts[:first])
