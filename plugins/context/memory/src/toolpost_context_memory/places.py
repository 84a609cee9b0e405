"""Where memories lie: one folder for a repository, whatever worktree a session is in."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from toolpost import SessionScope, project_key

OFF_BY_ENV: Final = ("TOOLPOST_DISABLE_AUTO_MEMORY", "CLAUDE_CODE_DISABLE_AUTO_MEMORY")
INDEX: Final = "MEMORY.md"


def folder_of(scope: SessionScope) -> Path | None:
    """Return the folder of the project's memories, with no link in it; None where memory is off or can't be used."""
    if not is_on(scope.settings, scope.env):
        return None
    given = scope.settings.get("autoMemoryDirectory")
    if given:
        return _chosen(str(given), scope)
    config = scope.config_dir.resolve()
    folder = config / "projects" / project_key(repository_of(scope.project.resolve())) / "memory"
    if folder.is_symlink() or folder.parent.is_symlink():
        scope.report(f"Memory is off: {folder} is a link, or lies in one. Move the memories there instead.")
        return None
    return folder


def is_on(settings: Mapping[str, object], env: Mapping[str, str]) -> bool:
    """Whether neither the settings nor the environment switch memory off."""
    return settings.get("autoMemoryEnabled", True) is not False and not any(
        _is_set(env.get(name)) for name in OFF_BY_ENV
    )


def repository_of(project: Path) -> Path:
    """Return the main work tree of the repository that a folder lies in; the folder where it lies in none.

    A linked work tree counts only where the repository knows of it: anybody can write a `.git` file that points to
    somebody else's repository, and would be shown its memories.
    """
    for candidate in (project, *project.parents):
        mark = candidate / ".git"
        if mark.is_dir():
            return candidate
        if mark.is_file():
            return _main_tree(mark) or candidate
    return project


def _main_tree(mark: Path) -> Path | None:
    git_dir = Path(os.path.realpath(mark.parent / _first_line(mark).removeprefix("gitdir:").strip()))
    common = git_dir.parent.parent
    known = _first_line(git_dir / "gitdir")
    if git_dir.parent.name != "worktrees" or not known or not (common / "HEAD").is_file():
        return None
    if Path(os.path.realpath(git_dir / known)) != mark.resolve():
        return None
    return common.parent if common.name == ".git" else common


def _first_line(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            return opened.readline(4096).decode(errors="replace").strip()
    except OSError:
        return ""


def _chosen(given: str, scope: SessionScope) -> Path | None:
    """Return the folder that the person's settings name, unless more than memories would lie in it."""
    folder = Path(os.path.realpath(scope.home / given[2:] if given.startswith("~/") else given))
    kept = (scope.home, scope.config_dir, scope.project)
    if not given.startswith(("/", "~/")) or any(place.resolve().is_relative_to(folder) for place in kept):
        scope.report(
            f"Memory is off: the setting autoMemoryDirectory is {given!r}. Name a folder of its own, with its whole path, "
            "that holds neither your home folder nor the project."
        )
        return None
    return folder


def _is_set(value: str | None) -> bool:
    return (value or "").strip().lower() not in ("", "0", "false", "no", "off")
