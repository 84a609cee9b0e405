"""The tool Glob."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

from toolpost import Progress, Tool, ToolFailed, ToolResult

if TYPE_CHECKING:
    from toolpost import ToolContext, ToolResultBlock


@dataclass(frozen=True)
class GlobInput:
    """Which files to find, where."""

    pattern: Annotated[str, "Glob pattern, such as src/**/*.{ts,tsx}"]
    path: Annotated[str | None, "Folder to search; default: current folder"] = None


class Glob(Tool[GlobInput]):
    """Finds files by name, the newest first, at most 100.

    - `*` and `?` stop at slashes, `**/` is any folders, [ab] one character, {a,b} alternatives, a backslash escapes.
    - Hidden files are found; .git and what git ignores are not.
    - To find text in files use Grep. Several patterns can go into one message.
    """

    name = "Glob"
    search_hint = "find files by name pattern"
    input_model = GlobInput

    def is_read_only(self, input: GlobInput) -> bool:
        """Looking changes nothing."""
        del input
        return True

    def is_concurrency_safe(self, input: GlobInput) -> bool:
        """Searches do not disturb one another."""
        del input
        return True

    def is_search_or_read(self, input: GlobInput) -> bool:
        """Front ends may fold searches together."""
        del input
        return True

    def interrupt_behavior(self) -> Literal["cancel", "block"]:
        """A search may be ended at any time."""
        return "cancel"

    def get_path(self, input: GlobInput) -> str | None:
        """Return the folder that is searched: the pattern's own beginning counts."""
        from .pattern import fixed_prefix

        prefix = fixed_prefix(input.pattern)[0]
        if prefix.startswith(("/", "~")) or not input.path:
            return prefix or input.path or "."
        return f"{input.path.rstrip('/')}/{prefix}" if prefix else input.path

    def backfill_observable_input(self, input: Mapping[str, Any], ctx: ToolContext) -> Mapping[str, Any]:
        """Make the folder absolute for hooks and rules."""
        return {**input, "path": str(ctx.resolve(input.get("path") or "."))}

    def activity(self, input: GlobInput) -> str:
        """Say what is looked for."""
        return f"Finding {input.pattern}"

    def render_call(self, input: GlobInput) -> str:
        """Show the pattern and where it is looked for."""
        return input.pattern if input.path is None else f"{input.pattern} in {input.path}"

    async def validate_input(self, input: GlobInput, ctx: ToolContext) -> str | None:
        """Refuse a pattern that can't be one."""
        del ctx
        if not input.pattern.strip():
            return "pattern is empty; give a glob such as **/*.py."
        return "pattern holds a NUL character." if "\0" in input.pattern else None

    async def call(self, input: GlobInput, ctx: ToolContext, progress: Progress) -> ToolResult:
        """List the files, keep those that match, newest first."""
        from time import monotonic

        from .find import find
        from .pattern import other_readings

        started = monotonic()
        base = ctx.resolve(input.path or ".")
        if not base.is_dir():
            what = "is a file, not a folder" if base.exists() else "does not exist"
            raise ToolFailed(f"{base} {what}. The current folder is {ctx.cwd}.")
        # ripgrep opens the folder by itself, so where its links lead is looked at before and after.
        ctx.real(self.get_path(input) or ".")
        found = await find(base, input.pattern, ctx, progress)
        note = found.note
        others = other_readings(input.pattern) if not found.total and not note else ()
        for pattern, why in others:
            found = await find(base, pattern, ctx, progress)
            note = found.note or (why if found.total else "")
            if note:
                break
        ctx.real(self.get_path(input) or ".")
        return ToolResult(
            {
                "durationMs": round((monotonic() - started) * 1000),
                "numFiles": len(found.names),
                "filenames": found.names,
                "truncated": len(found.names) < found.total,
                "total": found.total,
                "note": note,
            }
        )

    def to_result_block(self, data: Any, tool_use_id: str) -> ToolResultBlock:
        """List the files, and say what is missing."""
        lines = list(data["filenames"]) or ["No files found"]
        if data["truncated"]:
            lines.append(
                f"(Showing the {data['numFiles']} newest of {data['total']} files; use a narrower pattern for others.)"
            )
        if data["note"]:
            lines.append(f"({data['note']})")
        return {"type": "tool_result", "tool_use_id": tool_use_id, "content": "\n".join(lines)}
