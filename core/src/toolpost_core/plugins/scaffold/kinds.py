"""The kinds of plugins that can be made anew."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final, NamedTuple


class Kind(NamedTuple):
    """What is particular to a kind beside its templates.

    `group` is the entry-point group without its prefix. `is_function` says that the entry point names a function and
    not a class. `requires` are libraries that the template imports.
    """

    group: str
    is_function: bool = False
    requires: tuple[str, ...] = ()


KINDS: Final = MappingProxyType(
    {
        "tool": Kind("tools", is_function=True),
        "family": Kind("tools"),
        "lifecycle": Kind("lifecycle"),
        "permission-resolver": Kind("permission_resolvers"),
        "provider": Kind("providers"),
        "compaction": Kind("compaction"),
        "mcp-transport": Kind("mcp_transports", requires=("mcp>=2,<3",)),
        "skill-loader": Kind("skill_loaders"),
        "agent-loader": Kind("agent_loaders"),
        "context": Kind("context"),
        "hook-runner": Kind("hook_runners"),
        "executor": Kind("executors"),
        "sandbox": Kind("sandboxes"),
        "search-backend": Kind("search_backends"),
        "frontend": Kind("frontends"),
        "service": Kind("services"),
        "settings-source": Kind("settings_sources"),
    }
)
"""Each kind by the word for it on the command line, which is also the folder of its templates."""

LICENSES: Final = ("Apache-2.0", "MIT", "none")
"""What a plugin can be licensed under; the first is the default."""
