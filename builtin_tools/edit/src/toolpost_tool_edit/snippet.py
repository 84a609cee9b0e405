"""The lines that an edit changed: as the model reads them, and as a front end draws them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from toolpost import Diff, Hunk

LINES = 40
CHARS = 200


def changed_lines(hunks: Sequence[Hunk]) -> str:
    """Return the first lines round the changes, numbered."""
    shown: list[str] = []
    for number, line in _new_lines(hunks):
        if len(shown) == LINES:
            shown.append("(more lines changed)")
            break
        cut = f"{line[:CHARS]}…" if len(line) > CHARS else line
        shown.append(f"{number:6}\t{cut}")
    return "\n".join(shown)


def as_diff(data: Mapping[str, Any]) -> Diff:
    """Return the change of one file; only the parts that differ where the file is big."""
    from toolpost import Diff

    before: str | None = data["originalFile"]
    hunks: Sequence[Hunk] = data["structuredPatch"]
    if not data["replaced"] and before is None:
        return Diff(data["filePath"], None, data["newString"])
    old = "\n".join(line[1:] for hunk in hunks for line in hunk["lines"] if line[0] != "+")
    new = "\n".join(line[1:] for hunk in hunks for line in hunk["lines"] if line[0] != "-")
    return Diff(data["filePath"], old, new, hunks[0]["newStart"] if len(hunks) == 1 else 1)


def _new_lines(hunks: Sequence[Hunk]) -> Iterator[tuple[int, str]]:
    for hunk in hunks:
        new = (line[1:] for line in hunk["lines"] if line[0] != "-")
        yield from enumerate(new, hunk["newStart"])
