"""Which workspaces the person trusts, and what a project's files may set in one that is not trusted.

The list is `trust.json` in the config folder: folders under `trusted`, and those of which the person said no under
`declined`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from toolpost import SettingsError
from toolpost_core.settings.document import Document
from toolpost_core.settings.keys import ESCALATING, PERSON_ONLY, POLICY_ONLY, UNTRUSTED
from toolpost_core.settings.problem import Problem

FILE: Final = "trust.json"
_KEYS: Final = {"trusted": True, "declined": False}


def is_trusted(config_dir: Path, project: Path) -> bool:
    """Whether the person trusted this very folder; trust does not pass to folders inside it.

    A list that can't be read trusts nothing.
    """
    try:
        return answers(config_dir).get(project.resolve(), False)
    except SettingsError:
        return False


def answers(config_dir: Path) -> dict[Path, bool]:
    """Return what the person said of folders: trusted or not. Raises SettingsError where the list can't be read."""
    file = config_dir / FILE
    try:
        content = json.loads(file.read_bytes())
        said = {answer: [Path(folder) for folder in content.get(key, ())] for key, answer in _KEYS.items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, AttributeError, TypeError) as error:
        told = f"{file}: the list of trusted folders can't be read: {error}. Mend or remove it."
        raise SettingsError(told) from error
    return {**dict.fromkeys(said[False], False), **dict.fromkeys(said[True], True)}


def answer(config_dir: Path, project: Path, trusted: bool | None) -> bool:
    """Keep what the person says of a folder; None forgets it. Return whether that is news.

    Raises SettingsError where the list can't be read or written.
    """
    from toolpost_core.settings.write import changed

    folder = project.resolve()
    with changed(config_dir / FILE) as content:
        before = answers(config_dir)
        after = {**before, folder: trusted}
        for key, kind in _KEYS.items():
            content[key] = sorted(str(path) for path, said in after.items() if said is kind)
    return before.get(folder) is not trusted


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
        "this workspace is not trusted. Trust it with `toolpost trust add`, or for one run with --trust"
        if ours and not trusted
        else f"the {document.level} level may not set this"
    )
    withheld = tuple(key for key in forbidden if _waits(key)) if ours and not trusted else ()
    return Problem(f"{file}: {what} left out: {reason}.", file=document.file, withheld=withheld)


def _waits(key: str) -> bool:
    """Whether a key that a project's file may not set yet counts in a trusted workspace."""
    return key not in POLICY_ONLY and key not in PERSON_ONLY and "(" not in key
