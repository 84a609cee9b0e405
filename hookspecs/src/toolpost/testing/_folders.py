"""What lies in folders before and after, for rules that say that nothing is changed."""

from __future__ import annotations

from pathlib import Path


def snapshot(folder: Path) -> dict[str, bytes | None]:
    """Return the content of each file below a folder by its relative path; None for a folder."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }


def outside(root: Path, folder: Path) -> dict[str, bytes | None]:
    """Return what lies below `root` without what lies in one folder of it."""
    skipped = str(folder.relative_to(root.resolve()))
    return {name: content for name, content in snapshot(root).items() if Path(name).parts[0] != skipped}
