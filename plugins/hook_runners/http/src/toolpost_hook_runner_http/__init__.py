"""Hooks of type http: the event is posted to a URL."""

from .runner import HttpRunner

__all__ = ["HttpRunner"]
