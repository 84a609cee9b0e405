"""What a plugin prints as it is loaded goes to standard error, with its name: standard output is for our own documents."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, redirect_stdout
from typing import Any, cast


def aside(plugin: str, distribution: str) -> AbstractContextManager[Any]:
    """Send what is printed in a block aside, under a plugin's name."""
    return redirect_stdout(cast("Any", Aside(plugin, distribution)))


class Aside:
    """Stands in for standard output; each line begins with who printed it. All else is as standard error has it."""

    def __init__(self, plugin: str, distribution: str) -> None:
        self._who = f"toolpost: the plugin {plugin!r} ({distribution}) printed: "
        self._at_start = True

    def write(self, text: str) -> int:
        """Write a text."""
        if sys.stderr is not None and text:
            lines = text.splitlines(keepends=True)
            sys.stderr.write("".join((self._who if self._at_start or n else "") + line for n, line in enumerate(lines)))
            self._at_start = text.endswith("\n")
        return len(text)

    def writelines(self, lines: Any) -> None:
        """Write several texts."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(sys.stderr, name)
