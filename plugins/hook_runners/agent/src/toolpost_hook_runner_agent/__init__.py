"""Hooks of type agent: a sub-agent with tools looks for itself."""

from .runner import AgentRunner

__all__ = ["AgentRunner"]
