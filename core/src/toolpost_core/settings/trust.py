"""Which workspaces the person trusts, and what a project's files may set in one that is not trusted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from toolpost import SettingsError
from toolpost_core.settings.document import Document
from toolpost_core.settings.keys import ESCALATING, PERSON_ONLY, POLICY_ONLY, UNTRUSTED
from toolpost_core.settings.problem import Problem

FILE: Final = "trust.json"


def is_trusted(config_dir: Path, project: Path) -> bool:
    """Whether the person trusted this very folder; trust does not pass to folders inside it.

    A list that can't be read trusts nothing.
    """
    try:
        return str(project.resolve()) in _trusted(config_dir / FILE)
    except SettingsError:
        return False


def trust(config_dir: Path, project: Path) -> None:
    """Add a folder to the trusted ones. Raises SettingsError where the list can't be read or written."""
    from toolpost_core.settings.write import changed

    file = config_dir / FILE
    with changed(file) as content:
        content["trusted"] = sorted({*_trusted(file), str(project.resolve())})


def _trusted(file: Path) -> set[str]:
    try:
        content = json.loads(file.read_bytes())
        return {str(folder) for folder in content["trusted"]}
    except FileNotFoundError:
        return set()
    except (OSError, ValueError, KeyError, TypeError) as error:
        said = f"{file}: the list of trusted folders can't be read: {error}. Mend or remove it."
        raise SettingsError(said) from error


def permitted(document: Document, trusted: bool) -> tuple[Document, list[Problem]]:
    """Return the document without what its level may not set, and a problem for what was left out."""
    ours = document.level in ("project", "local")
    forbidden: list[str] = []
    values: dict[str, Any] = {}
    for key, value in document.values.items():
        if (key in POLICY_ONLY and document.level != "managed") or (key in PERSON_ONLY and ours):
            forbidden.append(key)
        elif key == "permissions" and ours:
            values[key] = _permissions(document.level, value, trusted, forbidden)
        elif ours and not trusted and key not in UNTRUSTED:
            forbidden.append(key)
        else:
            values[key] = value
    if not forbidden:
        return document, []
    return document.with_values(values), [_left_out(document, forbidden, trusted)]


def _permissions(level: str, values: dict[str, Any], trusted: bool, forbidden: list[str]) -> dict[str, Any]:
    kept = {}
    for key, value in values.items():
        name = f"permissions.{key}"
        escalates = key == "defaultMode" and value in ESCALATING and (level == "project" or not trusted)
        if escalates or not (trusted or name in UNTRUSTED):
            forbidden.append(f"{name} ({value})" if escalates else name)
        else:
            kept[key] = value
    return kept


def _left_out(document: Document, forbidden: list[str], trusted: bool) -> Problem:
    what = ", ".join(forbidden)
    file = document.file or f"settings ({document.level})"
    ours = document.level in ("project", "local")
    reason = (
        "this workspace is not trusted. Start `toolpost` in it and answer the question, or pass --trust"
        if ours and not trusted
        else f"the {document.level} level may not set this"
    )
    return Problem(f"{file}: {what} left out: {reason}.", file=document.file)
