"""Glob: find files by name pattern."""

from __future__ import annotations

from .tool import Glob, GlobInput

__all__ = ["Glob", "GlobInput"]
