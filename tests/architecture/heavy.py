"""Libraries that cost a start-up dearly; a plugin imports them where it needs them, never as it is imported."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Final

HEAVY: Final = (
    "PIL",
    "anthropic",
    "boto3",
    "click",
    "google.genai",
    "httpx",
    "httpx2",
    "importlib.metadata",
    "mcp",
    "openai",
    "prompt_toolkit",
    "psutil",
    "pydantic",
    "pygments",
    "requests",
    "rich",
    "stevedore",
    "tree_sitter",
    "tree_sitter_bash",
    "watchfiles",
    "yaml",
)


def loaded_by(script: str) -> set[str]:
    """Return the modules that a fresh interpreter has loaded after running a script."""
    ending = "\nimport json as _json, sys as _sys\n_sys.stderr.write('\\n' + _json.dumps(list(_sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", script + ending], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return set(json.loads(done.stderr.rsplit("\n", 1)[-1]))
