"""How a run was asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from toolpost._frozen import frozen

if TYPE_CHECKING:
    from toolpost.permissions import PermissionMode
    from toolpost.providers import Effort


@frozen(kw_only=True)
class BudgetLimits:
    """What may be used at most, or is left of that; None is no limit.

    `turns` are requests of a conversation, `seconds` count from the beginning of what they bound.
    """

    dollars: float | None = None
    tokens: int | None = None
    turns: int | None = None
    seconds: float | None = None


@frozen(kw_only=True)
class LaunchOptions:
    """How a run was asked for, from the command line or a program; None and empty mean "as the settings say".

    `max_budget_usd`, `max_budget_tokens` and `max_seconds` bound the session with all that it starts; `max_turns` bounds
    each prompt. An empty `resume` lets the person pick a session. `record` is a file that the whole session is kept in.

    The system prompt begins with the first of these texts that is given: `override_system_prompt`, beside which no plugin
    adds sections; `coordinator_system_prompt` of a session that only hands out work; `agent_system_prompt` of an agent;
    `system_prompt`; our own. `append_system_prompt` stands at its end in any case.
    """

    prompt: str | None = None
    cwd: Path | None = None
    output_format: Literal["text", "json", "stream-json"] = "text"
    input_format: Literal["text", "stream-json"] = "text"
    include_partial_messages: bool = False
    verbose: bool = False
    model: str | None = None
    fallback_model: str | None = None
    effort: Effort | None = None
    provider: str | None = None
    permission_mode: PermissionMode | None = None
    allowed_tools: tuple[str, ...] = ()
    disallowed_tools: tuple[str, ...] = ()
    tools: tuple[str, ...] | None = None
    max_turns: int | None = None
    max_budget_usd: float | None = None
    max_budget_tokens: int | None = None
    max_seconds: float | None = None
    override_system_prompt: str | None = None
    coordinator_system_prompt: str | None = None
    agent_system_prompt: str | None = None
    system_prompt: str | None = None
    append_system_prompt: str | None = None
    settings: str | None = None
    setting_sources: tuple[str, ...] = ("user", "project", "local")
    add_dirs: tuple[Path, ...] = ()
    json_schema: Mapping[str, Any] | None = None
    resume: str | None = None
    continue_last: bool = False
    fork_session: bool = False
    session_id: str | None = None
    persist: bool = True
    record: Path | None = None
    bare: bool = False
    trust: bool = False
    plugin_config: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)
