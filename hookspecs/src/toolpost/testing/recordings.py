"""`replays`: a recorded session as a test."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Final, Literal

LIMIT: Final = 120.0
"""Seconds that a recording may take; nothing in it waits, so that only real tools need any."""


def replays(
    recording: Path | str,
    *,
    tools: Literal["recorded", "real"] = "recorded",
    output_format: Literal["text", "json", "stream-json"] = "text",
    cwd: Path | str | None = None,
) -> str:
    """Play a session that `toolpost record` kept, and return what it prints; no model and no key is needed.

        def test_the_session_is_still_the_same() -> None:
            assert replays("tests/count_words.jsonl").endswith("2 words\\n")

    Raises AssertionError, with the nearest recording and the difference, where a prompt, a tool's schema, an event or
    anything else that is asked is not as it was recorded. With real `tools` the calls are made in `cwd`, which they may
    change, and what they come to counts as well. Needs toolpost-core and the plugins of the recording.
    """
    command = [sys.executable, "-m", "toolpost_core", "replay", str(recording), "--tools", tools]
    command += ["--output-format", output_format, *(["--cwd", str(cwd)] if cwd is not None else [])]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT, check=False)
    if done.returncode:
        raise AssertionError(done.stderr)
    return done.stdout
