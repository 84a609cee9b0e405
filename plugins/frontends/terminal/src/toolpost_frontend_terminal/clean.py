"""Text of tools and models made safe to show: it can neither move the cursor nor hide what it says."""

from __future__ import annotations

import re

# CSI, OSC and the other string sequences with their ends, then two-byte escapes, each as a whole.
_SEQUENCE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?"
    r"|\x1b[ -/]*[0-~]?"
)
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
# Characters that reorder what is read, or that take no room and so hide in a command; and all that a terminal obeys.
_DECEPTIVE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2064\u2066-\u2069"
    "\u3164\ud800-\udfff\ufeff\uffa0\U000e0000-\U000e007f]"
)


def clean(text: str) -> str:
    """Return the text without terminal sequences and control characters; tabs are spaces, line ends are `\\n`."""
    text = _SEQUENCE.sub("", text.replace("\r\n", "\n"))
    if "\r" in text:  # a progress bar overwrites its line: what it last said counts
        text = "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n"))
    return _CONTROLS.sub("", text).expandtabs(4)


def clean_input(text: str) -> str:
    """Return all of what a person is asked to allow: nothing is left out, what would deceive the eye is spelt out."""
    shown = _DECEPTIVE.sub(lambda match: f"<U+{ord(match[0]):04X}>", text.replace("\r\n", "\n"))
    return shown.expandtabs(4)


def one_line(text: str) -> str:
    """Return the text on one line, cleaned."""
    return " ".join(clean(text).split())


def one_line_input(text: str) -> str:
    """Return what a call is given on one line, with nothing left out but blanks."""
    return " ".join(clean_input(text).split())
