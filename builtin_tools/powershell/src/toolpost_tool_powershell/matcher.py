"""What a PowerShell command would run, as rules see it: coarse, and never more than is certain."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from toolpost import CommandPart

if TYPE_CHECKING:
    from toolpost import Behavior

ALIASES: Final = {
    **dict.fromkeys(("rm", "ri", "del", "erase", "rd", "rmdir"), "remove-item"),
    **dict.fromkeys(("cp", "copy", "cpi"), "copy-item"),
    **dict.fromkeys(("mv", "move", "mi"), "move-item"),
    **dict.fromkeys(("ren", "rni"), "rename-item"),
    **dict.fromkeys(("cat", "gc", "type"), "get-content"),
    **dict.fromkeys(("ls", "dir", "gci"), "get-childitem"),
    **dict.fromkeys(("cd", "chdir", "sl"), "set-location"),
    **dict.fromkeys(("iwr", "wget", "curl"), "invoke-webrequest"),
    **dict.fromkeys(("kill", "spps"), "stop-process"),
    **dict.fromkeys(("start", "saps"), "start-process"),
    **dict.fromkeys(("echo", "write"), "write-output"),
    "iex": "invoke-expression",
    "irm": "invoke-restmethod",
    "icm": "invoke-command",
    "ni": "new-item",
    "si": "set-item",
    "sc": "set-content",
    "ac": "add-content",
    "clc": "clear-content",
    "ii": "invoke-item",
    "sleep": "start-sleep",
}
"""The aliases of a fresh PowerShell 7 that rules are likely to meet (`Get-Alias`)."""

_BREAK = re.compile(r"[;|&(){}\r\n]+")
_PLAIN = re.compile(r"[\w ./:=,+\\-]*")


class Statements:
    """A `PermissionMatcher` of the statements that a command is made of."""

    def __init__(self, command: str) -> None:
        pieces = [piece.strip() for piece in _BREAK.split(command) if piece.strip()]
        self.parts: Sequence[CommandPart] = tuple(CommandPart(piece, tuple(piece.split())) for piece in pieces)
        certain = all(_PLAIN.fullmatch(statement.strip()) for statement in re.split("[;|\r\n]", command))
        self.doubt = "" if certain and pieces else "PowerShell works parts of it out only when it runs"

    def matches(self, part: CommandPart, specifier: str, behavior: Behavior) -> bool:
        """Whether a rule covers a statement: by its words, or by the first ones where it ends in `:*` or ` *`."""
        words, open_end = _words(specifier)
        given, _ = _words(part.text)
        if behavior != "allow":
            # A variable or quote before a name is no reason to miss it.
            given = [word.strip("\"'`@$") for word in given]
        return given[: len(words)] == words if open_end else given == words


def _words(text: str) -> tuple[list[str], bool]:
    """Return the words as they are compared, and whether more may follow."""
    open_end = text.endswith((":*", " *"))
    words = (text[:-2] if open_end else text).lower().split()
    return [
        ALIASES.get(word.removesuffix(".exe"), word) if index == 0 else word for index, word in enumerate(words)
    ], open_end
