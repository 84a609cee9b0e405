"""Print mode: text, json and stream-json."""

from __future__ import annotations

from .frontend import Headless

__all__ = ["Headless"]
