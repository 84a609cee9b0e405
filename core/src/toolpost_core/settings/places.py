"""Where Toolpost's own files lie."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

MANAGED: Final = Path("/etc/toolpost/managed-settings.json")


def home_dir(env: Mapping[str, str]) -> Path:
    """Return the person's home folder."""
    return Path(env["HOME"]) if env.get("HOME") else Path.home()


def config_dir(env: Mapping[str, str]) -> Path:
    """Return the folder of the person's settings, sessions and trust: $TOOLPOST_CONFIG_DIR or ~/.toolpost."""
    given = env.get("TOOLPOST_CONFIG_DIR")
    return Path(given).expanduser().absolute() if given else home_dir(env) / ".toolpost"


def cache_dir(env: Mapping[str, str]) -> Path:
    """Return the folder of what can be made anew at any time."""
    if env.get("TOOLPOST_CONFIG_DIR"):
        return config_dir(env) / "cache"
    return Path(env.get("XDG_CACHE_HOME") or home_dir(env) / ".cache") / "toolpost"


def managed_files(env: Mapping[str, str]) -> tuple[Path, ...]:
    """Return the files of policy, the machine's own first.

    $TOOLPOST_MANAGED_SETTINGS adds one below it; nothing takes the machine's own away.
    """
    added = env.get("TOOLPOST_MANAGED_SETTINGS")
    return (MANAGED, Path(added)) if added else (MANAGED,)
