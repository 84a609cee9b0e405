"""The tool Grep."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

from toolpost import Param, Progress, Tool, ToolFailed, ToolResult

if TYPE_CHECKING:
    from toolpost import ToolContext, ToolResultBlock

HEAD_LIMIT = 250
"""Lines or files given where no limit is asked for."""
BIG_OUTPUT = 1_000_000
"""Bytes of output from which reading it goes to a thread."""


@dataclass(frozen=True)
class GrepInput:
    """What to search for, where, and how to show it."""

    pattern: Annotated[str, "Regular expression (Rust syntax)"]
    path: Annotated[str | None, "File or folder; default: current folder"] = None
    glob: Annotated[str | None, "Only these files: *.{ts,tsx}"] = None
    type: Annotated[str | None, "Only files of this type: py, js, rust"] = None
    output_mode: Annotated[
        Literal["content", "files_with_matches", "count"], "Lines, file names (default) or counts"
    ] = "files_with_matches"
    after: Annotated[int | None, Param("Lines after (content)", alias="-A", minimum=0)] = None
    before: Annotated[int | None, Param("Lines before", alias="-B", minimum=0)] = None
    around: Annotated[int | None, Param("Lines around", alias="-C", minimum=0)] = None
    context: Annotated[int | None, Param("Same as -C", minimum=0)] = None
    line_numbers: Annotated[bool, Param("Line numbers; default true", alias="-n")] = True
    ignore_case: Annotated[bool, Param("Ignore case", alias="-i")] = False
    only_matching: Annotated[bool, Param("Only the matching part", alias="-o")] = False
    multiline: Annotated[bool, ". matches line breaks too"] = False
    head_limit: Annotated[int | None, Param("At most so many lines or files; default 250, 0: all", minimum=0)] = None
    offset: Annotated[int | None, Param("Skip so many first", minimum=0)] = None


class Grep(Tool[GrepInput]):
    """Searches file contents with ripgrep. Use it rather than grep or rg in Bash; to find files by name use Glob.

    - Hidden files are searched; .git, binary, git-ignored and forbidden files are not.
    - Escape literal braces and parentheses: `interface\\{\\}`. A pattern spans lines only with multiline.
    """

    name = "Grep"
    search_hint = "search file contents regex ripgrep"
    input_model = GrepInput

    def is_read_only(self, input: GrepInput) -> bool:
        """Searching changes nothing."""
        del input
        return True

    def is_concurrency_safe(self, input: GrepInput) -> bool:
        """Searches do not disturb one another."""
        del input
        return True

    def is_search_or_read(self, input: GrepInput) -> bool:
        """Front ends may fold searches together."""
        del input
        return True

    def interrupt_behavior(self) -> Literal["cancel", "block"]:
        """A search may be ended at any time."""
        return "cancel"

    def get_path(self, input: GrepInput) -> str | None:
        """Return where it searches."""
        return input.path or "."

    def backfill_observable_input(self, input: Mapping[str, Any], ctx: ToolContext) -> Mapping[str, Any]:
        """Make the path absolute for hooks and rules."""
        return {**input, "path": str(ctx.resolve(input.get("path") or "."))}

    def activity(self, input: GrepInput) -> str:
        """Say what is searched for."""
        return f"Searching for {input.pattern[:60]}"

    def render_call(self, input: GrepInput) -> str:
        """Show the pattern and where it is looked for."""
        return input.pattern if input.path is None else f"{input.pattern} in {input.path}"

    async def validate_input(self, input: GrepInput, ctx: ToolContext) -> str | None:
        """Refuse what no program can be given as a pattern."""
        del ctx
        if not input.pattern:
            return "pattern is empty; give a regular expression."
        try:
            encoded = f"{input.pattern}{input.glob or ''}{input.type or ''}".encode()
        except UnicodeEncodeError:
            return "pattern, glob or type holds half a character (a lone surrogate); send it whole."
        return "pattern, glob or type holds a NUL character; write it as \\x00." if b"\0" in encoded else None

    async def call(self, input: GrepInput, ctx: ToolContext, progress: Progress) -> ToolResult:
        """Search, put the files in order, and cut to the limit."""
        from . import output, search

        where = ctx.resolve(input.path or ".")
        if not where.exists():
            raise ToolFailed(f"There is no file or folder {where}. The current folder is {ctx.cwd}.")
        if not (where.is_file() or where.is_dir()):
            raise ToolFailed(f"{where} is no regular file: reading it may never end.")
        # ripgrep opens the place by itself, so where its links lead is looked at before and after.
        ctx.real(where)
        raw, note = await search.run(input, where, ctx, progress)
        ctx.real(where)
        if len(raw) > BIG_OUTPUT:
            return ToolResult(await asyncio.to_thread(output.collect, raw, note, input, where, ctx.cwd))
        return ToolResult(output.collect(raw, note, input, where, ctx.cwd))

    def to_result_block(self, data: Any, tool_use_id: str) -> ToolResultBlock:
        """Make the list that the model reads."""
        from . import output

        return {"type": "tool_result", "tool_use_id": tool_use_id, "content": output.written(data)}
