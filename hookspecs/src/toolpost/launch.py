"""How a run was asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from toolpost.permissions import PermissionMode


@dataclass(frozen=True, kw_only=True)
class LaunchOptions:
    """How a run was asked for, from the command line or a program; None and empty mean "as the settings say"."""

    prompt: str | None = None
    cwd: Path | None = None
    output_format: Literal["text", "json", "stream-json"] = "text"
    input_format: Literal["text", "stream-json"] = "text"
    include_partial_messages: bool = False
    verbose: bool = False
    model: str | None = None
    fallback_model: str | None = None
    provider: str | None = None
    permission_mode: PermissionMode | None = None
    allowed_tools: tuple[str, ...] = ()
    disallowed_tools: tuple[str, ...] = ()
    tools: tuple[str, ...] | None = None
    max_turns: int | None = None
    max_budget_usd: float | None = None
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
    bare: bool = False
    trust: bool = False
    plugin_config: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)
