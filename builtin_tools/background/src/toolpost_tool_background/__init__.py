"""TaskOutput and TaskStop: look after work in the background."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from toolpost import Plugin, Tool, hookimpl

from .output import TaskOutput
from .stop import TaskStop

__all__ = ["BackgroundTools", "TaskOutput", "TaskStop"]


class BackgroundTools(Plugin):
    """The family."""

    @hookimpl
    def tools(self) -> Sequence[Tool[Any]]:
        """Return the tools."""
        return (TaskOutput(), TaskStop())
