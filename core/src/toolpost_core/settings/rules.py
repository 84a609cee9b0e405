"""The permission rules of all documents, each with its source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import toolpost
from toolpost import SettingsError
from toolpost_core.settings.document import Document
from toolpost_core.settings.problem import Problem

if TYPE_CHECKING:
    from toolpost import Rule
    from toolpost.permissions import Behavior, RuleSource

SOURCES: Final[Mapping[str, RuleSource]] = {
    "managed": "policySettings",
    "cli": "cliArg",
    "flag": "flagSettings",
    "local": "localSettings",
    "project": "projectSettings",
    "user": "userSettings",
}
BEHAVIORS: Final[tuple[Behavior, ...]] = ("deny", "ask", "allow")


def rules_of(
    documents: Sequence[Document], *, project: Path, config_dir: Path, policy_only: bool = False
) -> tuple[tuple[Rule, ...], list[Problem]]:
    """Return every rule, those of the highest level first, and a problem for each text that is no rule.

    With `policy_only` only managed settings may allow; what others ask or deny stays in force.
    """
    rules: list[Rule] = []
    problems: list[Problem] = []
    for document in documents:
        root = _root(document, project, config_dir)
        for behavior in BEHAVIORS:
            if behavior == "allow" and policy_only and document.level != "managed":
                continue
            for index, text in enumerate(document.values.get("permissions", {}).get(behavior, ())):
                try:
                    rules.append(_rule(document, behavior, index, text, root))
                except SettingsError as error:
                    where = document.at("permissions", behavior, index)
                    problems.append(Problem(f"{where}: {error}", file=document.file, level="error"))
    return tuple(rules), problems


def _rule(document: Document, behavior: Behavior, index: int, text: str, root: Path) -> Rule:
    file = str(document.file) if document.file else None
    line = document.line("permissions", behavior, index) if document.text else None
    return toolpost.Rule.parse(text, behavior, SOURCES[document.level], file=file, line=line, root=root)


def _root(document: Document, project: Path, config_dir: Path) -> Path:
    """The folder that `/x` in a path rule begins at: the person's own settings folder, or the project."""
    if document.level != "user":
        return project
    return document.file.parent if document.file else config_dir
