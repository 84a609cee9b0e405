"""ANSI-C quoting: what stands in `$'…'`."""

from __future__ import annotations

import re

from .syntax import Piece, Strange, Text

_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\033", "E": "\033", "f": "\f", "v": "\v",
            "\\": "\\", "'": "'", '"': '"', "?": "?"}  # fmt: skip


def decoded(text: str) -> Piece:
    """The characters that the text between the quotes stands for; those that shells decode otherwise are Strange."""
    out: list[str] = []
    for part in re.findall(r"\\x[0-9a-fA-F]{1,2}|\\[0-7]{1,3}|\\u[0-9a-fA-F]{1,4}|\\.|[^\\]+", text, re.DOTALL):
        if not part.startswith("\\"):
            out.append(part)
        elif part[1] in "xu" and len(part) > 2:
            out.append(chr(int(part[2:], 16)))
        elif part[1].isdigit() and part[1] in "01234567":
            out.append(chr(int(part[1:], 8) & 255))
        elif part[1] in _ESCAPES:
            out.append(_ESCAPES[part[1]])
        else:
            return Strange("it holds an escape of ANSI-C quoting that is not looked through")
    result = "".join(out)
    if any(ord(char) < 32 or ord(char) == 127 for char in result if char not in "\n\t"):
        return Strange("it makes control characters by ANSI-C quoting")
    return Text(result, quoted=True)
