"""The Anthropic Messages API as a provider."""

from __future__ import annotations

from .provider import Anthropic

__all__ = ["Anthropic"]
