#!/usr/bin/env python3
"""PreToolUse on file tools: nobody touches the secrets."""

import json
import pathlib
import sys

event = json.load(sys.stdin)
path = pathlib.Path(event["tool_input"].get("file_path", ""))
if path.name == ".env" or path.name.startswith(".env."):
    answer = {
        "hookEventName": "PreToolUse",
        "permissionDecision": "deny",
        "permissionDecisionReason": f"{path.name} holds secrets",
    }
    print(json.dumps({"hookSpecificOutput": answer}))
