"""Putting a project where it was asked for, whole or not at all."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from toolpost import PluginError


def write(folder: Path, texts: Mapping[str, str]) -> None:
    """Write a project's files into a folder that is empty or not there yet.

    Raises PluginError where anything is in the folder or it can't be written; nothing is changed then. The files are
    written to a folder beside it (within it, where it is there already) and then moved, in their order.
    """
    _refuse_what_is_not_empty(folder)
    made = _missing(folder.parent)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        _write(folder, texts)
    except OSError as error:
        for parent in made:
            if parent.is_dir() and not any(parent.iterdir()):
                parent.rmdir()
        raise PluginError(f"{folder} can't be written, and nothing was: {error.strerror or error}") from None


def _refuse_what_is_not_empty(folder: Path) -> None:
    try:
        there = next(iter(sorted(folder.iterdir())), None)
    except FileNotFoundError:
        return
    except OSError as error:
        raise PluginError(f"{folder} is no folder that can be written to: {error.strerror}.") from None
    if there is not None:
        raise PluginError(
            f"{folder} is not empty: {there.name} is in it. Nothing was written. Choose another folder with --dir."
        )


def _missing(folder: Path) -> list[Path]:
    """Folders that have to be made, the innermost first."""
    return [parent for parent in (folder, *folder.parents) if not parent.exists()]


def _write(folder: Path, texts: Mapping[str, str]) -> None:
    exists = folder.is_dir()
    scratch = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder if exists else folder.parent))
    try:
        project = scratch / "project"
        for path, text in texts.items():
            file = project / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8", newline="\n")
        if exists:
            _move(list(dict.fromkeys(path.partition("/")[0] for path in texts)), project, folder)
        else:
            project.rename(folder)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _move(names: Sequence[str], source: Path, target: Path) -> None:
    """Move all of them, or where one can't be moved none."""
    moved: list[str] = []
    try:
        for name in names:
            (source / name).rename(target / name)
            moved.append(name)
    except BaseException:
        for name in moved:
            (target / name).rename(source / name)
        raise
