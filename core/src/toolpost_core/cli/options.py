"""Flags become LaunchOptions."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from toolpost import LaunchOptions
from toolpost_core.cli.exits import complain
from toolpost_core.cli.flags import DEBUG, Given
from toolpost_core.cli.usage import UsageMistake, near

if TYPE_CHECKING:
    from toolpost.permissions import PermissionMode

_ID: Final = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_RULE: Final = re.compile(r"(?:[^\s,(]|\((?:[^()]|\([^()]*\))*\)|\()+")
_AS_GIVEN: Final = (
    "output_format",
    "input_format",
    "include_partial_messages",
    "verbose",
    "model",
    "fallback_model",
    "effort",
    "provider",
    "max_turns",
    "max_budget_usd",
    "settings",
    "fork_session",
    "session_id",
    "continue_last",
    "bare",
    "trust",
)
NOT_YET: Final = ("mcp_config", "strict_mcp_config", "agents", "agent", "plugin_dir", "debug")
"""Flags that are understood and handed on in `extra`, but that nothing acts on yet."""


def launch_options(given: Given) -> LaunchOptions:
    """Check flags against each other and return the options. Raises UsageMistake."""
    values = given.values
    _check(given)
    cwd = Path(values["cwd"]).expanduser().absolute() if "cwd" in values else None
    if cwd is not None and not cwd.is_dir():
        raise UsageMistake(f"--cwd: there is no folder {cwd}.")
    return LaunchOptions(
        prompt=given.words[0] if given.words else None,
        cwd=cwd,
        permission_mode=_mode(values),
        allowed_tools=rules(values.get("allowed_tools", ())),
        disallowed_tools=rules(values.get("disallowed_tools", ())),
        tools=_tools(values.get("tools")),
        system_prompt=_text(values, "system_prompt"),
        append_system_prompt=_text(values, "append_system_prompt"),
        setting_sources=sources(values.get("setting_sources")),
        add_dirs=tuple(_folder(text, cwd or Path.cwd()) for text in values.get("add_dir", ())),
        json_schema=_schema(values.get("json_schema")),
        resume=values.get("resume"),
        persist=not values.get("no_session_persistence", False),
        record=Path(values["record"]).expanduser().absolute() if "record" in values else None,
        extra=_extra(values),
        **{key: values[key] for key in _AS_GIVEN if key in values},
    )


def demo_options(arguments: Sequence[str]) -> LaunchOptions:
    """Return the options of `toolpost demo`, whose own flags the front end reads."""
    switches = {"--yes": "yes", "-y": "yes", "--fast": "fast"}
    extra: dict[str, Any] = {}
    rest = list(arguments)
    while rest:
        word, equals, value = rest.pop(0).partition("=")
        if word in switches and not equals:
            extra[switches[word]] = True
        elif word == "--keep":
            extra["keep"] = value if equals else rest.pop(0) if rest and not rest[0].startswith("-") else ""
            if not extra["keep"]:
                raise UsageMistake("--keep needs a folder: the demo works in it and leaves it there.")
        else:
            raise UsageMistake(
                f"`toolpost demo` takes --yes (answers the questions), --fast (no pauses) and --keep DIR, not {word}."
            )
    return LaunchOptions(extra=extra)


def rules(texts: Sequence[str]) -> tuple[str, ...]:
    """Split rules at commas and spaces that stand in no brackets."""
    return tuple(rule for text in texts for rule in _RULE.findall(text))


def sources(text: str | None) -> tuple[str, ...]:
    """Read --setting-sources; empty for none."""
    if text is None:
        return ("user", "project", "local")
    return tuple(part.strip() for part in text.split(",") if part.strip())


def permission_mode(text: str | None) -> PermissionMode | None:
    """Return the mode that a checked text names; `manual` is another word for `default`."""
    return cast("PermissionMode | None", "default" if text == "manual" else text)


def _no_one_prompt(words: Sequence[str]) -> str:
    from toolpost_core.cli.commands import COMMANDS

    meant = near(words[0], COMMANDS, 0.75)
    if meant:
        return f"There is no command {words[0]!r}.{meant} Put a prompt of several words into quotes."
    return (
        f"There is more than one prompt: {words[0]!r} and {words[1]!r}. Put the prompt into quotes; "
        "a command (toolpost --help lists them) stands before its flags."
    )


def _check(given: Given) -> None:
    values, words = given
    if len(words) > 1:
        raise UsageMistake(_no_one_prompt(words))
    if values.get("resume") == "" and values.keys() & {"print", "rewind_files", "init_only"}:
        raise UsageMistake("--resume needs a session: `toolpost sessions list` shows them; --continue takes the last.")
    if "resume" in values and "continue_last" in values:
        raise UsageMistake("--resume and --continue both choose a session: give one of them.")
    resumes = "resume" in values or "continue_last" in values
    if "fork_session" in values and not resumes:
        raise UsageMistake("--fork-session goes with --resume or --continue: it makes a copy of that session.")
    if "session_id" in values and not _ID.fullmatch(values["session_id"]):
        raise UsageMistake(f"--session-id can't be {values['session_id']!r}. It is a UUID.")
    if "session_id" in values and resumes and "fork_session" not in values:
        raise UsageMistake("--session-id goes with --resume or --continue only where --fork-session makes a new one.")
    if "maintenance" in values and values.keys() & {"init", "init_only"}:
        raise UsageMistake("--init and --maintenance are different kinds of setup: give one of them.")
    _check_streams(values, words)


def _check_streams(values: Mapping[str, Any], words: Sequence[str]) -> None:
    streams = values.get("output_format") == "stream-json"
    if values.get("input_format") == "stream-json" and not streams:
        raise UsageMistake("--input-format stream-json goes with --output-format stream-json.")
    if values.get("input_format") == "stream-json" and words:
        raise UsageMistake("--input-format stream-json reads its prompts from standard input: leave out the prompt.")
    if values.get("include_partial_messages") and not streams:
        raise UsageMistake("--include-partial-messages goes with --output-format stream-json.")


def _mode(values: Mapping[str, Any]) -> PermissionMode | None:
    mode = values.get("permission_mode")
    if values.get("skip_permissions"):
        if mode not in (None, "bypassPermissions"):
            raise UsageMistake(f"--dangerously-skip-permissions and --permission-mode {mode} contradict each other.")
        return "bypassPermissions"
    return permission_mode(mode)


def _tools(text: str | None) -> tuple[str, ...] | None:
    return None if text is None or text.strip() == "default" else rules([text])


def _text(values: Mapping[str, Any], key: str) -> str | None:
    flag, file = f"--{key.replace('_', '-')}", values.get(f"{key}_file")
    if file is None:
        text: str | None = values.get(key)
        return text
    if key in values:
        raise UsageMistake(f"{flag} and {flag}-file both give the text: give one of them.")
    try:
        return Path(file).expanduser().read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise UsageMistake(f"{flag}-file: {file} can't be read: {reason}.") from error


def _folder(text: str, cwd: Path) -> Path:
    folder = cwd / Path(text).expanduser()
    if not folder.is_dir():
        raise UsageMistake(f"--add-dir: there is no folder {folder}.")
    return folder


def _schema(text: str | None) -> Mapping[str, Any] | None:
    if text is None:
        return None
    try:
        schema = json.loads(text)
    except ValueError as error:
        raise UsageMistake(f"--json-schema is not JSON: {error}") from error
    if not isinstance(schema, dict):
        raise UsageMistake("--json-schema must be a JSON object.")
    return schema


def _extra(values: Mapping[str, Any]) -> dict[str, Any]:
    idle = [key for key in NOT_YET if key in values]
    if "debug" in idle:
        idle.remove("debug")
        if values["debug"] not in DEBUG:
            known = " or ".join(f"--debug={name}" for name in DEBUG)
            complain(f"warning: --debug has an effect with one of its filters only: {known}.")
    if idle:
        names = ", ".join(f"--{key.replace('_', '-')}" for key in idle)
        complain(f"warning: {names} has no effect in this version.")
    given = {key: values[key] for key in NOT_YET if key in values}
    trigger = "maintenance" if "maintenance" in values else "init" if values.keys() & {"init", "init_only"} else None
    return given if trigger is None else {**given, "setup": trigger}
