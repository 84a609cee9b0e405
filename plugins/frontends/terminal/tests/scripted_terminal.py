"""Runs the front end with a scripted session: `python scripted_terminal.py [OPTIONS]`, a JSON object.

`opening` is how many seconds the session takes to open, `wakes` after how many it begins a turn by itself; with `undrawn`
the first frame is never done.
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
    opening, wakes = options.pop("opening", 0.0), options.pop("wakes", 0.0)
    if options.pop("undrawn", False):
        from toolpost_frontend_terminal.screen import Screen

        Screen._after_frame = lambda self, _: self._held.release()  # type: ignore[method-assign]
    host = ScriptedHost(LaunchOptions(**options), opening=opening)

    async def run() -> int:
        if wakes:
            asyncio.get_running_loop().call_later(wakes, host.door.enqueue, "a task ended")
        return await Terminal().run(host)

    sys.exit(asyncio.run(run()))
