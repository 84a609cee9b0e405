"""One question to the permission system: a call and the circumstances that it is asked in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any, Final

from toolpost import SettingsDocument
from toolpost._frozen import frozen
from toolpost.settings import SettingsLevel
from toolpost_core.cli.usage import UsageMistake

LEVELS: Final[Mapping[str, SettingsLevel]] = {
    "managed": "managed",
    "cli": "cli",
    "flag": "flag",
    "local": "local",
    "project": "project",
    "user": "user",
}
IN_SESSION: Final = ("session", "command")
OF_PERMISSIONS: Final = (
    "additionalDirectories",
    "defaultMode",
    "denyInsteadOfPrompting",
    "disableAutoMode",
    "disableBypassPermissionsMode",
)


@frozen(kw_only=True)
class Case:
    """A call and its circumstances.

    `documents` are settings of sources beside the files, `session_rules` lists of rules by behaviour that were given in
    the session. `hooks` are answers of hooks, as if they had run.
    """

    tool: str
    input: Mapping[str, Any]
    cwd: Path
    home: Path | None = None
    mode: str | None = None
    interactive: bool = True
    trusted: bool = True
    settings: Mapping[str, Any] = field(default_factory=dict)
    documents: Sequence[SettingsDocument] = ()
    session_rules: Sequence[tuple[str, Mapping[str, Sequence[Any]]]] = ()
    directories: Sequence[Path] = ()
    hooks: Sequence[Mapping[str, Any]] = ()
    sandbox: Mapping[str, Any] | None = None
    agent_type: str | None = None
    skill: Mapping[str, Any] | None = None
    mcp: Mapping[str, Any] = field(default_factory=dict)


def read_case(line: Any, cwd: Path) -> Case:
    """Read a batch line's object; what it leaves out has the ordinary default. Raises UsageMistake."""
    if not isinstance(line, dict) or not isinstance(line.get("tool"), str) or not isinstance(line.get("input"), dict):
        raise UsageMistake('a line is an object {"id": ..., "tool": "Bash", "input": {...}, ...}')
    hook = line.get("hook") or []
    agent = line.get("agent") or {}
    sources = [source for source in line.get("sources") or () if isinstance(source, dict)]
    known = (*LEVELS, *IN_SESSION)
    for source in sources:
        if source.get("source") not in known:
            raise UsageMistake(f"there is no source {source.get('source')!r}; there are {', '.join(known)}")
    return Case(
        tool=line["tool"],
        input=line["input"],
        cwd=Path(line.get("cwd") or cwd),
        home=Path(line["home"]) if line.get("home") else None,
        mode=line.get("mode"),
        interactive=line.get("interactive", True) is not False,
        trusted=line.get("trusted", True) is not False,
        settings=line.get("settings") or {},
        documents=[_document(source) for source in sources if source["source"] in LEVELS],
        session_rules=[(s["source"], s.get("rules") or {}) for s in sources if s["source"] in IN_SESSION],
        directories=[Path(folder) for folder in line.get("dirs") or ()],
        hooks=hook if isinstance(hook, list) else [hook],
        sandbox=line.get("sandbox"),
        agent_type=agent.get("type") if isinstance(agent, dict) else str(agent),
        skill=line.get("skill"),
        mcp=line.get("mcp") or {},
    )


def _document(source: Mapping[str, Any]) -> SettingsDocument:
    flags = source.get("flags") or {}
    permissions = {**(source.get("rules") or {}), **{key: flags[key] for key in OF_PERMISSIONS if key in flags}}
    rest = {key: flags[key] for key in flags if key not in OF_PERMISSIONS}
    return SettingsDocument(level=LEVELS[source["source"]], values={"permissions": permissions, **rest}, below=False)
