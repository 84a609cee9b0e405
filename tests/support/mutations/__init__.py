"""A plugin for each contract kit, and how each rule of the kit is broken in a copy of it."""

from __future__ import annotations

from mutations import beyond_the_turn as beyond
from mutations import tools, turn

SUBJECTS = (
    tools.TOOL,
    turn.PROVIDER,
    turn.COMPACTION,
    turn.CONTEXT,
    turn.PERMISSION_RESOLVER,
    turn.LIFECYCLE,
    turn.HOOK_RUNNER,
    beyond.SERVICE,
    beyond.FRONTEND,
    beyond.MCP_TRANSPORT,
    beyond.SKILL_LOADER,
    beyond.AGENT_LOADER,
    beyond.EXECUTOR,
    beyond.SANDBOX,
    beyond.SEARCH_BACKEND,
    beyond.SETTINGS_SOURCE,
)
