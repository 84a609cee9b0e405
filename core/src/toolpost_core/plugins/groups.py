"""The entry-point groups, one a kind of plugin."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

PREFIX: Final = "toolpost."

KINDS: Final = MappingProxyType(
    {
        "tools": "Tool",
        "lifecycle": "",
        "permission_resolvers": "PermissionResolver",
        "providers": "Provider",
        "compaction": "CompactionStrategy",
        "mcp_transports": "McpTransport",
        "skill_loaders": "SkillLoader",
        "agent_loaders": "AgentLoader",
        "context": "ContextSource",
        "hook_runners": "HookRunner",
        "executors": "AgentExecutor",
        "sandboxes": "Sandbox",
        "search_backends": "SearchBackend",
        "settings_sources": "SettingsSource",
        "services": "ServiceOffer",
        "frontends": "Frontend",
    }
)
"""Each group (without its prefix) and the name in `toolpost` of what its registration hook returns."""

GUARDS: Final = frozenset({"lifecycle", "permission_resolvers", "sandboxes", "settings_sources"})
"""Groups whose plugins may hold a call back: an untrusted project can't turn them off."""

APART: Final = frozenset({"frontends", "settings_sources"})
"""Groups whose plugins are made outside of sessions, and hear nothing of them."""
