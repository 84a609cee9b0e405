"""A provider that plays a recorded model, and one that records any other."""

from __future__ import annotations

from .provider import Replay
from .recorded import Recorded

__all__ = ["Recorded", "Replay"]
