"""Read: text with line numbers, pictures, documents and notebooks."""

from __future__ import annotations

from .tool import Read, ReadInput

__all__ = ["Read", "ReadInput"]
