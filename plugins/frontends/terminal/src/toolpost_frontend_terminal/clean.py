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
# Characters that reorder what is read, or that take no room and so hide in a command.
_DECEPTIVE = re.compile("[\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]")


def clean(text: str) -> str:
    """Return the text without terminal sequences and control characters; tabs are spaces, line ends are `\\n`."""
    text = _SEQUENCE.sub("", text.replace("\r\n", "\n"))
    if "\r" in text:  # a progress bar overwrites its line: what it last said counts
        text = "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n"))
    return _CONTROLS.sub("", text).expandtabs(4)


def clean_input(text: str) -> str:
    """Like `clean`, for what a person is asked to allow: what would deceive the eye is spelt out."""
    return _DECEPTIVE.sub(lambda match: f"<U+{ord(match[0]):04X}>", clean(text))


def one_line(text: str) -> str:
    """Return the text on one line, cleaned."""
    return " ".join(clean(text).split())
