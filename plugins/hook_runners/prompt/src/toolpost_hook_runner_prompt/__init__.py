"""Hooks of type prompt: a small model judges an event."""

from .runner import PromptRunner

__all__ = ["PromptRunner"]
