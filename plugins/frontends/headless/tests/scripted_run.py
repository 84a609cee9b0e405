"""Runs the front end on real pipes and signals: `python scripted_run.py SCENARIO`, a JSON object (see __main__)."""

from __future__ import annotations

import asyncio
import json
import sys

from headless_doubles import ScriptedDoor, ScriptedHost, result  # type: ignore[import-not-found]

from toolpost import LaunchOptions, Streaming, TextDelta
from toolpost_frontend_headless import Headless

if __name__ == "__main__":
    scenario = json.loads(sys.argv[1])
    pieces = [Streaming(TextDelta("x" * 65536)) for _ in range(scenario.get("pieces", 0))]
    door = ScriptedDoor([*pieces, result()], hold=scenario.get("hold", False))
    host = ScriptedHost(LaunchOptions(**{"prompt": "go", "output_format": "stream-json", **scenario["options"]}), door)
    code = asyncio.run(Headless().run(host))
    print(f"calls: {door.calls}", file=sys.stderr)
    sys.exit(code)
