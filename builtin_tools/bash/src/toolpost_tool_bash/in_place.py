"""Shows what `sed -i` would make of a file, to the person who is asked about it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from .arguments import Argument
from .effects import effects_of
from .matcher import understand
from .parts import BashPart
from .sed import without_in_place

if TYPE_CHECKING:
    from toolpost import CommandPart, Diff, ToolContext

_MOST_BYTES = 2_000_000


async def edited(line: str, ctx: ToolContext) -> Diff | None:
    """The change that a line makes which edits one file with sed and else only reads; None for any other line."""
    from toolpost import Diff
    from toolpost.patch import structured_patch

    matcher = understand(line, cwd=ctx.scope.cwd, home=ctx.scope.home)
    edits = [part for part in matcher.parts if not part.read_only]
    argv = _printing(edits[0]) if len(edits) == 1 and not matcher.doubt else None
    if argv is None:
        return None
    path = edits[0].writes[0]
    if not path.is_file() or path.stat().st_size > _MOST_BYTES:
        return None
    # A script that passed the table only prints, deletes and substitutes, and without -i it does so to its output.
    done = await ctx.processes.run(argv, cwd=ctx.scope.cwd, env=ctx.env)
    before, after = path.read_bytes().decode(), done.output.decode()
    hunks = structured_patch(before, after)
    if done.returncode or done.dropped or not hunks:
        return None
    old = "\n".join(text[1:] for hunk in hunks for text in hunk["lines"] if text[0] != "+")
    new = "\n".join(text[1:] for hunk in hunks for text in hunk["lines"] if text[0] != "-")
    return Diff(str(path), old, new, hunks[0]["newStart"] if len(hunks) == 1 else 1)


def _printing(part: CommandPart) -> list[str] | None:
    """The command line that prints what a part would write to its one file; None for a part that does something else."""
    if not isinstance(part, BashPart) or not all(arg.plain for arg in part.args):
        return None
    if part.doubt or part.argv[:1] != ("sed",) or not part.writes:
        return None
    # Beside the file itself only what is kept of it.
    if not all(str(kept).startswith(str(part.writes[0])) for kept in part.writes):
        return None
    path, arguments = str(part.writes[0]), without_in_place(part.argv[1:])
    if not path.endswith(str(Path(arguments[-1]))):
        return None
    arguments[-1] = path
    effects = effects_of("sed", [Argument(text) for text in arguments])
    only_reads = not effects.why and all(kind == "read" for kind, _ in effects.files)
    return ["sed", *arguments] if only_reads else None
