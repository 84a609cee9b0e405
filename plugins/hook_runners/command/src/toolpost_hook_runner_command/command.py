"""What is started for a hook: program, folder, environment and input."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toolpost import HookJob, PluginPlace, SessionScope, env_file

_PLACEHOLDER = re.compile(r"\$\{(?:TOOLPOST|CLAUDE)_(PROJECT_DIR|PLUGIN_ROOT|PLUGIN_DATA)\}")
_OPTION = re.compile(r"\$\{user_config\.(\w+)\}")
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
    places = {"PROJECT_DIR": str(project), **_of_plugin(job)}
    return Command(
        argv=_argv(job, places),
        folder=_folder(project, scope),
        env={**_environment(job, scope, places), **_leaving(job, scope)},
        input=json.dumps(job.payload, ensure_ascii=False, default=str).encode("utf-8", "replace") + b"\n",
    )


def _of_plugin(job: HookJob) -> Mapping[str, str]:
    """Return the places of the plugin that brought the hook, by the ends of their variables' names."""
    if job.plugin is None:
        return {}
    try:
        job.plugin.data.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CommandError(f"The folder for the plugin's data can't be made: {error}") from error
    return {"PLUGIN_ROOT": str(job.plugin.root), "PLUGIN_DATA": str(job.plugin.data)}


def _argv(job: HookJob, places: Mapping[str, str]) -> Sequence[str]:
    handler = job.handler
    command, arguments, shell = handler.get("command"), handler.get("args"), handler.get("shell", "sh")
    if not isinstance(command, str) or not command.strip():
        raise CommandError(f"The hook needs a 'command' that is a text, and has {command!r}.")
    if arguments is not None:
        if not isinstance(arguments, list) or not all(isinstance(argument, str) for argument in arguments):
            raise CommandError(f"'args' of the hook {command!r} must be a list of texts, and is {arguments!r}.")
        return [_substituted(part, places, job.plugin) for part in (command, *arguments)]
    if shell not in _SHELLS:
        raise CommandError(f"'shell' of the hook {command!r} is {shell!r}; it may be {', '.join(_SHELLS)}.")
    if shell == "powershell":
        command = _PLACEHOLDER.sub(r"${env:TOOLPOST_\1}", command)
    # Other shells take the folder from the environment: put into the text, its characters would be read as commands.
    return [*_SHELLS[shell], command]


def _substituted(part: str, places: Mapping[str, str], plugin: PluginPlace | None) -> str:
    """Put places and the plugin's settings into one argument; what nobody has stays as it stands."""
    text = _PLACEHOLDER.sub(lambda found: places.get(found[1], found[0]), part)
    options = plugin.options if plugin is not None else {}
    return _OPTION.sub(lambda found: _said(options[found[1]]) if found[1] in options else found[0], text)


def _said(option: Any) -> str:
    return option if isinstance(option, str) else json.dumps(option, ensure_ascii=False, default=str)


def _folder(project: Path, scope: SessionScope) -> Path:
    """The project, or the nearest folder that is still there."""
    candidates = (project, scope.cwd, *project.parents, scope.home)
    return next((folder for folder in candidates if folder.is_dir()), Path("/"))


def _leaving(job: HookJob, scope: SessionScope) -> Mapping[str, str]:
    """Name the file in which the hook leaves variables for later commands, where it may; it finds the file empty."""
    file = env_file(scope.config_dir, scope.session_id, job.event, json.dumps(job.handler, sort_keys=True, default=str))
    if file is None:
        return {}
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        file.write_bytes(b"")
    except OSError as error:
        raise CommandError(f"The file for the hook's variables can't be written: {error}") from error
    return {"TOOLPOST_ENV_FILE": str(file), "CLAUDE_ENV_FILE": str(file)}


def _environment(job: HookJob, scope: SessionScope, places: Mapping[str, str]) -> Mapping[str, str]:
    inherited = {name: value for name, value in (scope.env or os.environ).items() if not name.startswith("OTEL_")}
    own = {**places, "PID": str(os.getpid())}
    if job.plugin is not None:
        own |= {f"PLUGIN_OPTION_{name.upper()}": _said(value) for name, value in job.plugin.options.items()}
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
