"""Path rules: where a path really leads, and patterns in the manner of gitignore."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from pathlib import Path
from typing import Final, TypeAlias

from toolpost.permissions import PermissionScope, Rule

from .index import folded

ANY_NAME: Final = "…"
"""A name for whatever lies in a folder: a rule that covers it covers all there."""
Spellings: TypeAlias = tuple[Path, ...]
_STREAM = re.compile(r"::?\$\w+$")
# Another name for the folder that a process is in; that of whoever decides may be another one.
_OWN_FOLDER = re.compile(r"/proc/(?:self|thread-self|\d+)/cwd(?:/|$)")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


def absolute(text: str, scope: PermissionScope) -> Path | None:
    """Make a path of an input absolute; None where it names no place that can be judged."""
    if "\0" in text or _SCHEME.match(text) or len(text) > 4096:
        return None
    if text == "~" or text.startswith("~/"):
        return Path(os.path.join(scope.home, text[2:]))  # noqa: PTH118 - `..` is resolved with the links, not before
    if text.startswith("~"):
        return None
    return Path(os.path.join(scope.cwd, text))  # noqa: PTH118


def spellings(path: Path, real: Path | None = None) -> Spellings:
    """The path as written, the link and what it leads to: a deny holds for any of them, an allow needs all.

    `real` is what it leads to where that was looked up already, for the call that is decided on.
    """
    written = Path(os.path.normpath(path))
    try:
        if path.name in ("", ".."):
            link = real = real or Path(os.path.realpath(path))
        else:
            link = Path(os.path.realpath(path.parent), path.name)
            real = real or (Path(os.path.realpath(link)) if link.is_symlink() else link)
    except (OSError, ValueError):
        return (written,)
    return tuple(dict.fromkeys((written, link, real)))


def is_inside(path: Path, scope: PermissionScope, real: Path | None = None) -> bool:
    """Whether the link and its target lie in the working directories."""
    return are_inside(spellings(path, real), scope)


def are_inside(places: Spellings, scope: PermissionScope) -> bool:
    """The same for a path whose spellings are known."""
    folders = scope.directories or (scope.project,)
    return all(any(place.is_relative_to(folder) for folder in folders) for place in places[-2:])


def covers(rule: Rule, places: Spellings, scope: PermissionScope) -> bool:
    """Whether a path rule covers a path of these spellings: by any to deny or ask, by all to allow."""
    if rule.behavior == "allow":
        return all(_covers(rule, place, scope) for place in places[-2:])
    # A folder that is literally called `~` may be taken for the home folder by whoever opens the path next.
    own = [Path(scope.cwd, *place.parts[4:]) for place in places if _OWN_FOLDER.match(str(place))]
    homely = [Path(scope.home, *place.parts[place.parts.index("~") + 1 :]) for place in places if "~" in place.parts]
    return any(_covers(rule, place, scope) for place in (*places, *homely, *own))


def names_like(pattern: str) -> Callable[[str], object] | None:
    """What tells whether a name fits the last one in a rule's pattern; None where any may."""
    last = pattern.strip().rstrip("/").rpartition("/")[2]
    if last in ("", ".", "~") or last.startswith("**"):
        return None
    fits = _regex(last, deep=False, loose=True).fullmatch
    return lambda name: fits(_trimmed(name))


def names_in(places: Spellings, scope: PermissionScope) -> set[str]:
    """The names that a rule's pattern must hold some of to cover the path, for finding it in the index."""
    return {folded(name) for place in (*places, scope.home, scope.cwd) for name in place.parts}


def _covers(rule: Rule, place: Path, scope: PermissionScope) -> bool:
    text = rule.specifier or ""
    loose = rule.behavior != "allow"
    text = text.strip() if loose else text
    path = str(place)
    for anchor, pattern, deep in _anchored(text, rule, scope):
        base = str(anchor).rstrip("/") + "/"
        inside = path.casefold().startswith(base.casefold()) if loose else path.startswith(base)
        if not inside and path + "/" != base:
            continue
        relative = path[len(base) :] or "."
        if _regex(pattern, deep=deep, loose=loose).fullmatch(_trimmed(relative) if loose else relative):
            return True
    return False


def _anchored(text: str, rule: Rule, scope: PermissionScope) -> Iterable[tuple[Path, str, bool]]:
    """The folders that a pattern is relative to, the pattern, and whether it may match at any depth below."""
    if text.startswith("//"):
        return ((Path("/"), text[2:].lstrip("/"), False),)
    if text == "~" or text.startswith("~/"):
        return ((scope.home, text[2:], False),)
    if text.startswith("/"):
        return ((rule.root or scope.project, text[1:], False),)
    if rule.behavior != "allow" and text in (".", "./"):
        text = "./**"  # the folder itself: whoever writes it means what is in it
    explicit = text.startswith("./")
    pattern = text.removeprefix("./")
    bare = "/" not in pattern.rstrip("/")
    one_folder = pattern.count("/") == 1 and pattern.endswith("/**")
    deep = not explicit and (bare or (one_folder and rule.behavior != "allow"))
    if rule.behavior == "allow":
        return ((scope.cwd, pattern, deep),)
    folders = dict.fromkeys((scope.cwd, scope.project, *scope.directories))
    return tuple((folder, pattern, deep) for folder in folders)


@lru_cache(maxsize=1024)
def _regex(pattern: str, *, deep: bool, loose: bool) -> re.Pattern[str]:
    """Translate a gitignore pattern; a pattern that names a folder covers what is in it."""
    flags = re.DOTALL | re.IGNORECASE if loose else re.DOTALL
    out = "(?:.*/)?" if deep else ""
    body = pattern.rstrip("/")
    at = 0
    while at < len(body):
        if body.startswith("**/", at) and (at == 0 or body[at - 1] == "/"):
            out, at = out + "(?:.*/)?", at + 3
        elif body.startswith("/**", at) and at + 3 == len(body):
            return re.compile(out + "/.+", flags)
        elif body[at] == "*":
            stars = len(body[at:]) - len(body[at:].lstrip("*"))
            out, at = out + (".*" if body == "**" else "[^/]*"), at + stars
        elif body[at] == "?":
            out, at = out + "[^/]", at + 1
        elif body[at] == "[" and (end := body.find("]", at + 2)) > 0:
            inner = body[at + 1 : end].replace("\\", "\\\\")
            out, at = out + "[" + ("^" + inner[1:] if inner[0] in "!^" else inner) + "]", end + 1
        elif body[at] == "\\" and at + 1 < len(body):
            out, at = out + re.escape(body[at + 1]), at + 2
        else:
            out, at = out + re.escape(body[at]), at + 1
    return re.compile(out + "(?:/.*)?", flags)


def _trimmed(relative: str) -> str:
    """Drop the trailing dots, spaces and names of streams that some file systems drop, too."""
    return "/".join(_STREAM.sub("", part).rstrip(". ") or part for part in relative.split("/"))
