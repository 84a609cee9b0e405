"""Hooks of type mcp_tool: a tool of a connected MCP server is called."""

from .runner import McpToolRunner

__all__ = ["McpToolRunner"]
