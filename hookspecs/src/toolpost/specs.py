"""The registration hookspecs: one for each kind of plugin. Sync, called once, each returns values of its kind.

A plugin rarely implements one by hand: the base class of each kind does it, and `@tool`'s result too.
"""

# A spec has no body; pluggy only reads its signature.
# mypy: disable-error-code=empty-body

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from toolpost._hooks import hookspec

if TYPE_CHECKING:
    from toolpost.agents import AgentLoader
    from toolpost.compaction import CompactionStrategy
    from toolpost.executors import AgentExecutor
    from toolpost.frontends import Frontend
    from toolpost.hook_runners import HookRunner
    from toolpost.mcp import McpTransport
    from toolpost.permissions import PermissionResolver
    from toolpost.prompt import ContextSource
    from toolpost.providers import Provider
    from toolpost.sandboxes import Sandbox
    from toolpost.search import SearchBackend
    from toolpost.services import ServiceOffer
    from toolpost.session import SessionScope
    from toolpost.settings import SettingsSource
    from toolpost.skills import SkillLoader
    from toolpost.tools import Tool


@hookspec
def tools() -> Sequence[Tool[Any]]:
    """Return the tools that the plugin brings."""


@hookspec
def permission_resolvers() -> Sequence[PermissionResolver]:
    """Return resolvers of permission requests."""


@hookspec
def providers() -> Sequence[Provider]:
    """Return provider adapters."""


@hookspec
def compaction() -> Sequence[CompactionStrategy]:
    """Return compaction strategies."""


@hookspec
def mcp_transports() -> Sequence[McpTransport]:
    """Return MCP transports."""


@hookspec
def skill_loaders() -> Sequence[SkillLoader]:
    """Return loaders of skills and commands."""


@hookspec
def agent_loaders() -> Sequence[AgentLoader]:
    """Return loaders of agent definitions."""


@hookspec
def context() -> Sequence[ContextSource]:
    """Return sources of prompt sections."""


@hookspec
def hook_runners() -> Sequence[HookRunner]:
    """Return runners of user-configured hooks."""


@hookspec
def executors() -> Sequence[AgentExecutor]:
    """Return places where sub-agents run."""


@hookspec
def sandboxes() -> Sequence[Sandbox]:
    """Return OS sandboxes."""


@hookspec
def search_backends() -> Sequence[SearchBackend]:
    """Return web search back ends."""


@hookspec
def settings_sources() -> Sequence[SettingsSource]:
    """Return sources of settings."""


@hookspec
def services() -> Sequence[ServiceOffer[Any]]:
    """Return services that other plugins may ask for."""


@hookspec
def frontends() -> Sequence[Frontend]:
    """Return front ends."""


@hookspec
def listeners(session: SessionScope) -> Sequence[Callable[..., Any]]:
    """Return functions marked with `@on.…` for one session, where which events to hear depends on its settings.

    Called once a session, before SessionStart. A plugin that always hears the same events marks its functions or
    methods with `@on.…` instead.
    """
