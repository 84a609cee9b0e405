"""Which violations are worth telling."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from toolpost import Violation

MOST: Final = 20
# "touch: cannot touch '/etc/x': Read-only file system", "[Errno 30] Read-only file system: '/etc/x'",
# "EROFS: read-only file system, open '/etc/x'", "bash: line 1: /etc/x: Read-only file system"
_READ_ONLY = re.compile(r"read-only file system", re.IGNORECASE)
_QUOTED = re.compile(r"['‘\"`](/?[^'’\"`\n]+)['’\"`]")
_BARE = re.compile(r"(?:^|[\s:])(/[^\s:]+)")


def not_ignored(found: Iterable[Violation], command: str, ignored: Any) -> Sequence[Violation]:
    """Return the first `MOST` violations, each once, and how many more there are.

    Those that `sandbox.ignoreViolations` names for the command are left out.
    Its keys are a command's beginning, or `*` for all; its values are parts of paths or hosts.
    """
    parts = [part for key, listed in _items(ignored) if key == "*" or command.startswith(key) for part in listed]
    kept = [one for one in dict.fromkeys(found) if not any(part in one.target for part in parts)]
    more = len(kept) - MOST
    return (*kept[:MOST], Violation("other", f"and {more} more")) if more > 0 else tuple(kept)


def refused_writes(output: str) -> Iterator[Violation]:
    """Yield a violation for each path that a line names as being on a read-only file system, the first `MOST` of them."""
    lines = (line for line in output.splitlines() if _READ_ONLY.search(line))
    for _, line in zip(range(MOST), lines, strict=False):
        found = _QUOTED.search(line) or _BARE.search(line)
        if found is not None:
            yield Violation("write", found[1], "it is read-only in the sandbox; the project and $TMPDIR are not")


def _items(ignored: Any) -> Iterable[tuple[str, list[str]]]:
    if isinstance(ignored, Mapping):
        for key, listed in ignored.items():
            if isinstance(listed, list):
                yield str(key), [part for part in listed if isinstance(part, str) and part]
