"""Files in which hooks leave variables for the commands of a session."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

_EVENTS: Final = ("Setup", "SessionStart", "CwdChanged", "FileChanged")
"""The events whose hooks may leave some, in the order in which these are read."""


def env_file(config_dir: Path, session_id: str, event: str, hook: str) -> Path | None:
    """Return the file of one hook at an event; None where hooks of the event leave nothing.

    `hook` tells the hook from others at the event. A shell reads the file, so that it may hold any commands.
    """
    if event not in _EVENTS:
        return None
    from hashlib import sha256

    name = f"{_EVENTS.index(event)}-{event}-{sha256(hook.encode(errors='replace')).hexdigest()[:16]}.sh"
    return _folder(config_dir, session_id) / name


def env_files(config_dir: Path | None, session_id: str, env: Mapping[str, str]) -> list[Path]:
    """Return the files that a shell reads before each command, in their order.

    First comes the one that the person named in the environment when the session was started.
    """
    named = env.get("TOOLPOST_ENV_FILE") or env.get("CLAUDE_ENV_FILE")
    files = [Path(named)] if named and Path(named).is_file() else []
    if config_dir is None or not session_id:
        return files
    try:
        with os.scandir(_folder(config_dir, session_id)) as entries:
            found = sorted(entry.path for entry in entries if entry.name.endswith(".sh") and entry.stat().st_size)
    except OSError:
        return files
    return [*files, *map(Path, found)]


def _folder(config_dir: Path, session_id: str) -> Path:
    return config_dir / "session-env" / re.sub(r"[^A-Za-z0-9_-]", "-", session_id)
