"""Edit: exact replacement in a file."""

from __future__ import annotations

from .tool import Edit, EditInput

__all__ = ["Edit", "EditInput"]
