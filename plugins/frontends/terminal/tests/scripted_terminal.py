"""Runs the front end with a scripted session: `python scripted_terminal.py [OPTIONS]`, a JSON object.

`opening` is how many seconds the session takes to open; with `undrawn` the first frame is never done.
"""

from __future__ import annotations

import asyncio
import json
import sys

from terminal_doubles import ScriptedHost  # type: ignore[import-not-found]

from toolpost import LaunchOptions
from toolpost_frontend_terminal import Terminal

if __name__ == "__main__":
    options = json.loads(sys.argv[1]) if len(sys.argv) > 1 else {}
    opening = options.pop("opening", 0.0)
    if options.pop("undrawn", False):
        from toolpost_frontend_terminal.screen import Screen

        Screen._after_frame = lambda self, _: self._held.release()  # type: ignore[method-assign]
    sys.exit(asyncio.run(Terminal().run(ScriptedHost(LaunchOptions(**options), opening=opening))))
