"""An offline demonstration with a recorded model."""

from __future__ import annotations

from .frontend import Demo

__all__ = ["Demo"]
