"""Grep: search file contents with ripgrep."""

from __future__ import annotations

from .tool import Grep, GrepInput

__all__ = ["Grep", "GrepInput"]
