"""Hooks that are Python functions of the program that runs the session."""

from .runner import CallbackRunner

__all__ = ["CallbackRunner"]
