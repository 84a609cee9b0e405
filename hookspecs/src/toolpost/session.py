"""What plugins are told about a session."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolpost._frozen import frozen
from toolpost.stash import Stash

if TYPE_CHECKING:
    from toolpost.permissions import PermissionMode
    from toolpost.services import Services


@frozen(kw_only=True)
class SessionScope:
    """A session's places and settings, for plugins that make something for it.

    `project` is the folder that the session was opened in, `cwd` the current one at this moment. `settings` is the
    effective settings document. `report` shows the person a warning. `agent_id` is set for a sub-agent.
    """

    session_id: str
    project: Path
    cwd: Path
    home: Path
    config_dir: Path
    transcript_path: Path | None = None
    results_dir: Path | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    env: Mapping[str, str] = field(default_factory=dict)
    interactive: bool = False
    trusted: bool = True
    model: str = ""
    permission_mode: PermissionMode = "default"
    stash: Stash = field(default_factory=Stash)
    services: Services | None = None
    report: Callable[[str], None] = lambda _: None
    agent_id: str | None = None
