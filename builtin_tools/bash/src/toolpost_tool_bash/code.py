"""What code in an interpreter's own language does to files, as far as the names of its functions and literals show it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from .arguments import Argument
from .carriers import files_in, names_in_code, speaks

HOME: Final = Argument("~", source="the home folder")
"""What stands for the home folder, however code calls it."""

_TEXT = r"""(?:Path\s*\(\s*|pathlib\.Path\s*\(\s*)?(?:'([^'\n]*)'|"([^"\n]*)")"""
_HOMES = (
    r"(?:pathlib\.)?Path\.home\(\)|os\.path\.expanduser\(\s*['\"]~/?['\"]\s*\)|Dir\.home|(?:\w+|require\([^)]*\))\.homedir\(\)"
    r"|os\.environ(?:\.get\(|\[)\s*['\"]HOME['\"]\s*[\])]|os\.getenv\(\s*['\"]HOME['\"]\s*\)|process\.env\.HOME"
    r"|\$ENV\{['\"]?HOME['\"]?\}|ENV\[['\"]HOME['\"]\]|getenv\(\s*['\"]HOME['\"]\s*\)"
)
_HERE = r"os\.getcwd\(\)|(?:pathlib\.)?Path\.cwd\(\)|process\.cwd\(\)|Dir\.pwd|getcwd\(\)"
_GIVEN = rf"(?:{_TEXT}|({_HOMES})|({_HERE}))"
_REMOVES = re.compile(
    rf"\b(?:rmtree|remove_tree|removedirs|rm_rf?|remove_dir|remove_entry(?:_secure)?|rm(?:dir)?Sync|removeSync|rimraf"
    rf"|promises\.rm|Deno\.remove|fs\.rm(?:dir)?)\b\s*\(?\s*{_GIVEN}"
)
_CHANGES = re.compile(
    rf"\b(?:os\.(?:remove|unlink|truncate|rename|replace|rmdir)|unlink|(?:write|append|copy)File(?:Sync)?|createWriteStream"
    rf"|unlinkSync|renameSync|truncateSync|File\.(?:write|delete|unlink)|file_put_contents|Deno\.write\w+)\b\s*\(?\s*{_TEXT}"
    rf"|\bopen\s*\(?\s*{_TEXT}\s*,\s*(?:mode\s*=\s*)?['\"][rbt]*[wax+]"
    r"""|\bopen\s*\(?\s*[\w$ ]+,\s*(?:['"][+>]+['"]\s*,\s*)['"]([^'"\n]+)['"]"""
    r"""|\bopen\s*\(?\s*[\w$ ]+,\s*['"]\s*>+\s*([^'"\n]+)['"]"""
    rf"|{_TEXT}\s*\)\s*\.(?:write_text|write_bytes|unlink|rename|touch|rmdir|open\(\s*['\"][wax])"
)


def files_of_code(name: str, args: Iterable[Argument], text: str | None) -> list[tuple[str, Argument]]:
    """The files that an interpreter's code, in its arguments or its standard input, removes, changes or names, by kind."""
    if not speaks(name):
        return []
    found: list[tuple[str, Argument]] = []
    for code in (*(arg.text for arg in args), text or ""):
        found.extend(("wipe", arg) for arg in _removed(code))
        found.extend(("write", Argument(path)) for match in _CHANGES.finditer(code) for path in match.groups() if path)
    found.extend(("mention", Argument(path)) for path in files_in(text or ""))
    found.extend(("perhaps", Argument(path)) for path in names_in_code(name, [text or ""]))
    return found


def _removed(code: str) -> Iterator[Argument]:
    for match in _REMOVES.finditer(code):
        single, double, home, here = match.groups()
        if home:
            yield HOME
        elif path := "." if here else single or double:
            yield Argument(path)
