"""What is wrong with a command line."""

from __future__ import annotations

from toolpost import ToolpostError


class UsageMistake(ToolpostError):
    """Raised when a command line can't be understood; says what is allowed."""
