"""Where the path of a call leads: looked up for the decision, and handed down so that the call can't go elsewhere."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from toolpost import DecidedPaths

if TYPE_CHECKING:
    from collections.abc import Callable

    from toolpost import PermissionRequest, PermissionScope


def real_path(path: str | None, scope: PermissionScope) -> Path | None:
    """Return where the path of an input leads, all links followed; None where there is no path."""
    try:
        return None if path is None else Path(os.path.realpath(_absolute(path, scope)))
    except (OSError, ValueError):  # no path that any system call takes: the tool refuses it
        return None


def decided(request: PermissionRequest, withheld: Callable[[Path], bool] | None = None) -> DecidedPaths:
    """Return what a call that was decided on may take its path for, and what it must not read of the files below it."""
    if request.path is None or request.real_path is None:
        return DecidedPaths(withheld=withheld)
    return DecidedPaths({_absolute(request.path, request.scope): request.real_path}, withheld)


def _absolute(path: str, scope: PermissionScope) -> Path:
    """Make a path absolute as `ToolContext.resolve` does."""
    return scope.home / path[2:] if path == "~" or path.startswith("~/") else scope.cwd / path
