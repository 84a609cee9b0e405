"""What is refused before it is opened, and the reason that the model reads."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from toolpost import ToolFailed

from .missing import describe_missing

_KINDS = (
    (stat.S_ISFIFO, "a named pipe: reading it would wait for a writer"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device: reading it may never end"),
    (stat.S_ISBLK, "a block device"),
)


def regular_file(path: Path, cwd: Path) -> os.stat_result:
    """Return the `stat` of a file that can be read to its end; raises ToolFailed for anything else."""
    try:
        found = path.stat()
    except FileNotFoundError:
        raise ToolFailed(describe_missing(path, cwd)) from None
    except OSError as error:
        raise ToolFailed(reason(error, path)) from None
    if stat.S_ISDIR(found.st_mode):
        raise ToolFailed(f"{path} is a folder. Use Glob (pattern {str(path / '*')!r}) to list its files.")
    for is_kind, what in _KINDS:
        if is_kind(found.st_mode):
            raise ToolFailed(f"{path} is {what}. Read takes regular files only.")
    return found


def reason(error: OSError, path: Path) -> str:
    """Say why the system would not let a file be read."""
    if error.errno == errno.ELOOP:
        return f"{path} is a symbolic link that leads in a circle."
    return f"Can't read {path}: {error.strerror or error}."


def in_megabytes(size: int) -> str:
    """Write a size for a reader."""
    return f"{size / 1_000_000:.1f} MB" if size >= 100_000 else f"{size} bytes"
