"""What is started for a hook: program, folder, environment and input."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toolpost import HookJob, SessionScope

_PLACEHOLDER = re.compile(r"\$\{(?:TOOLPOST|CLAUDE)_PROJECT_DIR\}")
_SHELLS = {"sh": ("/bin/sh", "-c"), "bash": ("bash", "-c"), "powershell": ("pwsh", "-NoProfile", "-Command")}


class CommandError(Exception):
    """Raised when a hook's entry names no program that could be started."""


@dataclass(frozen=True)
class Command:
    """A program to start."""

    argv: Sequence[str]
    folder: Path
    env: Mapping[str, str]
    input: bytes


def command_of(job: HookJob, scope: SessionScope) -> Command:
    """Return what a hook's entry asks for. Raises CommandError."""
    project = Path(os.path.abspath(scope.project))  # noqa: PTH100 - resolve() would follow links: not the user's path
    return Command(
        argv=_argv(job.handler, project),
        folder=_folder(project, scope),
        env=_environment(job, scope, project),
        input=json.dumps(job.payload, ensure_ascii=False, default=str).encode("utf-8", "replace") + b"\n",
    )


def _argv(handler: Mapping[str, Any], project: Path) -> Sequence[str]:
    command, arguments, shell = handler.get("command"), handler.get("args"), handler.get("shell", "sh")
    if not isinstance(command, str) or not command.strip():
        raise CommandError(f"The hook needs a 'command' that is a text, and has {command!r}.")
    if arguments is not None:
        if not isinstance(arguments, list) or not all(isinstance(argument, str) for argument in arguments):
            raise CommandError(f"'args' of the hook {command!r} must be a list of texts, and is {arguments!r}.")
        return [_PLACEHOLDER.sub(lambda _: str(project), part) for part in (command, *arguments)]
    if shell not in _SHELLS:
        raise CommandError(f"'shell' of the hook {command!r} is {shell!r}; it may be {', '.join(_SHELLS)}.")
    if shell == "powershell":
        command = _PLACEHOLDER.sub("${env:TOOLPOST_PROJECT_DIR}", command)
    # Other shells take the folder from the environment: put into the text, its characters would be read as commands.
    return [*_SHELLS[shell], command]


def _folder(project: Path, scope: SessionScope) -> Path:
    """The project, or the nearest folder that is still there."""
    candidates = (project, scope.cwd, *project.parents, scope.home)
    return next((folder for folder in candidates if folder.is_dir()), Path("/"))


def _environment(job: HookJob, scope: SessionScope, project: Path) -> Mapping[str, str]:
    inherited = {name: value for name, value in (scope.env or os.environ).items() if not name.startswith("OTEL_")}
    own = {"PROJECT_DIR": str(project), "PID": str(os.getpid())}
    effort = job.payload.get("effort")
    if isinstance(effort, Mapping) and "level" in effort:
        own["EFFORT"] = str(effort["level"])
    session = {"SESSION_ID": scope.session_id, "CHILD_SESSION": "1"}
    return {
        **inherited,
        **{f"{prefix}_{name}": value for name, value in own.items() for prefix in ("TOOLPOST", "CLAUDE")},
        **{f"{prefix}_{name}": value for name, value in session.items() for prefix in ("TOOLPOST", "CLAUDE_CODE")},
        "TOOLPOST": "1",
        "CLAUDECODE": "1",
    }
