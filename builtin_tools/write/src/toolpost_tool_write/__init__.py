"""Write: create or replace a file."""

from __future__ import annotations

from .tool import Write, WriteInput

__all__ = ["Write", "WriteInput"]
