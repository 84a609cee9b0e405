#!/usr/bin/env python3
"""Any event: one line a call, for whoever wants to know later what happened."""

import json
import os
import sys

event = json.load(sys.stdin)
kept = {name: event.get(name) for name in ("hook_event_name", "tool_name", "session_id")}
with open(os.path.join(os.environ["CLAUDE_PROJECT_DIR"], "..", "events.jsonl"), "a") as log:  # noqa: PTH118, PTH123
    print(json.dumps(kept), file=log)
