"""Contexts for tests: what a tool and what other plugins are given of a session."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from toolpost.context import AbortSignal, Control, ToolContext, ToolOptions
from toolpost.errors import InvalidInput
from toolpost.permissions import PermissionMode, PermissionScope
from toolpost.services import Commands, Files, Processes
from toolpost.session import SessionScope
from toolpost.testing.commands import PlainCommands
from toolpost.testing.doubles import AbortSwitch, ProgressLog, ServiceMap
from toolpost.testing.files import PlainFiles
from toolpost.testing.processes import PlainProcesses

if TYPE_CHECKING:
    from toolpost.messages import Message
    from toolpost.tools import Progress, Tool, ToolResult

I = TypeVar("I")  # noqa: E741 - as in `toolpost.tools`


def make_context(
    tmp_path: Path,
    *,
    mode: PermissionMode = "default",
    interactive: bool = False,
    services: Mapping[Any, object] | None = None,
    env: Mapping[str, str] | None = None,
    abort: AbortSignal | None = None,
    home: Path | None = None,
    messages: Sequence[Message] = (),
    **overrides: Any,
) -> ToolContext:
    """Return the context of a call in the folder `tmp_path`, with real files and real processes.

    `services` maps Protocols to objects and is added to `Commands`, `Files` and `Processes`. `env` is added to a small
    environment. `abort` is an `AbortSwitch` that the test triggers. `home` is a folder beside `tmp_path` that does not
    exist, unless given. Any other field of ToolContext can be given by name.
    """
    folder = tmp_path.resolve()
    home = home or _home_of(folder)
    context = ToolContext(
        cwd=folder,
        scope=PermissionScope(
            cwd=folder,
            home=home,
            project=folder,
            directories=(folder,),
            config_dir=home / ".toolpost",
            mode=mode,
            interactive=interactive,
        ),
        control=Control(
            abort=abort or AbortSwitch(), session_id="test-session", tool_use_id="toolu_test", messages=messages
        ),
        services=_services(services),
        env=_environment(home, env),
        options=ToolOptions(interactive=interactive),
    )
    return replace(context, **overrides)


def make_scope(
    tmp_path: Path,
    *,
    services: Mapping[Any, object] | None = None,
    env: Mapping[str, str] | None = None,
    home: Path | None = None,
    **overrides: Any,
) -> SessionScope:
    """Return the scope of a session in the folder `tmp_path`; any field of SessionScope can be given by name."""
    folder = tmp_path.resolve()
    home = home or _home_of(folder)
    scope = SessionScope(
        session_id="test-session",
        project=folder,
        cwd=folder,
        home=home,
        config_dir=home / ".toolpost",
        env=_environment(home, env),
        model="test-model",
        services=_services(services),
    )
    return replace(scope, **overrides)


async def call_tool(
    tool: Tool[I], input: Mapping[str, Any], ctx: ToolContext, progress: Progress | None = None
) -> ToolResult:
    """Read the input as core does, let the tool check it, and call the tool. Raises InvalidInput, ToolError."""
    parsed = tool.shape().parse(input)
    problem = await tool.validate_input(parsed, ctx)
    if problem is not None:
        raise InvalidInput(problem)
    return await tool.call(parsed, ctx, progress or ProgressLog())


def _home_of(folder: Path) -> Path:
    return folder.parent / f"{folder.name}-home"


def _services(given: Mapping[Any, object] | None) -> ServiceMap:
    plain = {Commands: PlainCommands(), Files: PlainFiles(), Processes: PlainProcesses()}
    return ServiceMap(plain | dict(given or {}))


def _environment(home: Path, given: Mapping[str, str] | None) -> dict[str, str]:
    small = {"PATH": os.environ.get("PATH", os.defpath), "HOME": str(home), "LANG": "C.UTF-8"}
    return small | dict(given or {})
