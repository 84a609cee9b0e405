"""The interactive terminal."""

from __future__ import annotations

from .frontend import Terminal

__all__ = ["Terminal"]
