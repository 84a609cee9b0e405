"""PowerShell: run a PowerShell command."""

from __future__ import annotations

from .tool import PowerShell

__all__ = ["PowerShell"]
