#!/usr/bin/env python3
"""PreToolUse on Bash: no deleting of whole trees."""

import json
import re
import sys

event = json.load(sys.stdin)
command = event["tool_input"].get("command", "")
if re.search(r"\brm\s+(-\w*[rR]\w*f|-\w*f\w*[rR]|-[rR]\s+-f|-f\s+-[rR])\b", command):
    print(f"`{command}` deletes a whole tree; name the files instead.", file=sys.stderr)
    sys.exit(2)
