"""Takes the options out of a command's arguments, as its row of the table knows them."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from . import devices
from .arguments import Argument
from .record import Effects
from .syntax import words

_OWN_WAY = words("test [ find sed awk mawk gawk nawk dd set tar")
_OPTIONS_FIRST = words("printf cd xxd")
_OPTION = re.compile(r"(--?)([^=?\s]+)(\?)?(?:=(\w+))?$")


class Row(NamedTuple):
    """A row of the table: its options, its operands' kinds, and its mark."""

    flags: set[str]
    valued: dict[str, tuple[str, bool]]
    kinds: list[str]
    harmless: bool
    gentle: bool


@cache
def row_of(row: str) -> Row:
    """Read a row of the table."""
    options, _, operands = row.lstrip("!?").partition("|")
    return Row(*_options(options), operands.split(), row.startswith("!"), row.startswith("?"))


def _options(text: str) -> tuple[set[str], dict[str, tuple[str, bool]]]:
    """The options of a row: those without a value, and those with one, its kind, and whether it may be missing."""
    flags: set[str] = set()
    valued: dict[str, tuple[str, bool]] = {}
    for token in text.split():
        match = _OPTION.match(token)
        if not match:
            continue
        dashes, name, optional, kind = match.groups()
        if kind is not None:
            shown = name if dashes == "--" else name[-1]
            valued[dashes.strip() + shown] = (kind, optional is not None)
            flags.update("-" + char for char in name[:-1] if dashes == "-")
        elif dashes == "--":
            flags.add(token)
        else:
            flags.update("-" + char for char in name)
    return flags, valued


def operands_of(
    name: str,
    args: list[Argument],
    row: Row,
    effects: Effects,
) -> list[Argument]:
    """Take the options out, noting the files that they name; return the operands."""
    flags, valued = row.flags, row.valued
    found: list[Argument] = []
    ended, at = False, 0
    none = name in _OWN_WAY or name in devices.PROGRAMS
    first = name in _OPTIONS_FIRST
    while at < len(args):
        arg = args[at]
        at += 1
        text = arg.text
        if none or (first and found):
            found.append(arg)
        elif not ended and _is_sure_option(arg):
            long, _, value = text.partition("=")
            _long(
                name, long, arg._replace(text=value, pattern=arg.pattern.partition("=")[2]), [], flags, valued, effects
            )
        elif arg.found:
            if not row.harmless:
                effects.files.append(("found", arg))
            found.append(arg)
        elif not arg.plain:
            if row.gentle and arg.known and not ended and "/" not in arg.text:
                effects.globs.append(arg)
            elif not ended and not row.harmless and (arg.may_be_option or arg.splits):
                effects.refuse(f"{arg.source or text} may turn out to be an option of {name}")
            if not ended and text.startswith("-"):
                effects.refuse(f"the option {arg.source or text} of {name} is only known once it runs")
            found.append(arg)
        elif ended or text == "-" or not text.startswith("-"):
            found.append(arg)
        elif text == "--":
            ended = True
        elif text.startswith("--"):
            long, has_value, value = text.partition("=")
            given = Argument(value) if has_value else None
            at += _long(name, long, given, args[at : at + 2], flags, valued, effects)
        elif text[1:].isdigit() and "-#" in flags:
            continue
        else:
            at += _short(name, text, args[at : at + 1], flags, valued, effects)
    return found


def _long(
    name: str,
    option: str,
    value: Argument | None,
    following: list[Argument],
    flags: set[str],
    valued: dict[str, tuple[str, bool]],
    effects: Effects,
) -> int:
    """Note one long option; return how many of the following arguments it takes."""
    effects.options.add(option)
    if option in valued:
        kind, optional = valued[option]
        if value is not None:
            effects.files.append((kind, value))
            effects.given.append((option, value))
        elif not optional:
            count = 2 if kind == "pair" else 1
            _take(name, option, kind, following[:count], effects)
            return count
    elif option not in flags or value is not None:
        effects.refuse(f"the option {option} of {name} is not known to be harmless")
        if value is not None:
            effects.files.append(("mention", value))
    return 0


def _is_sure_option(arg: Argument) -> bool:
    """Whether an argument that is not wholly known is one long option with a value: its name stands there."""
    if arg.plain or arg.splits or not arg.text.startswith("--"):
        return False
    name, equals, _ = arg.text.partition("=")
    return bool(equals) and not set(name) & set("*?[")


def _short(
    name: str,
    text: str,
    following: list[Argument],
    flags: set[str],
    valued: dict[str, tuple[str, bool]],
    effects: Effects,
) -> int:
    for position, char in enumerate(text[1:], 1):
        option = "-" + char
        effects.options.add(option)
        if option in valued:
            kind, optional = valued[option]
            if rest := text[position + 1 :]:
                effects.files.append((kind, Argument(rest)))
                effects.given.append((option, Argument(rest)))
            elif not optional:
                _take(name, option, kind, following, effects)
                return 1
            return 0
        if option not in flags:
            effects.refuse(f"the option {option} of {name} is not known to be harmless")
            effects.files.append(("mention", Argument(text[position + 1 :])))
            return 0
    return 0


def _take(name: str, option: str, kind: str, following: list[Argument], effects: Effects) -> None:
    """Note the value that an option finds in the next argument."""
    if not following:
        effects.refuse(f"the option {option} of {name} has no value")
    if any(arg.splits for arg in following):
        effects.refuse(f"the value of the option {option} of {name} may be several words")
    effects.files.extend((kind, arg) for arg in following)
    effects.given.extend((option, arg) for arg in following)
