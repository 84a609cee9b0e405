"""Bash: run a shell command."""

from __future__ import annotations

from .tool import Bash, BashInput

__all__ = ["Bash", "BashInput"]
