"""Allow, ask and deny rules of the settings, held against every call."""

from __future__ import annotations

from .resolver import Rules

__all__ = ["Rules"]
