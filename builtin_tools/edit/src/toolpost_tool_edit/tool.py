"""The tool Edit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

from toolpost import Progress, Tool, ToolFailed, ToolResult

if TYPE_CHECKING:
    from toolpost import PermissionScope, RuleUpdate, ToolContext, ToolResultBlock, View

KEPT_CHARS = 1_000_000
"""Characters of the old text that go into the structured output; of bigger files only the patch does."""


@dataclass(frozen=True)
class EditInput:
    """What to replace, where."""

    file_path: Annotated[str, "Absolute path"]
    old_string: Annotated[str, "Text to replace, exactly as in the file"]
    new_string: Annotated[str, "Text to put in its place"]
    replace_all: Annotated[bool, "Replace every occurrence"] = False


class Edit(Tool[EditInput]):
    """Replaces exact text in a file; all else in it stays byte for byte.

    - The file must have been read in this session and not have changed since.
    - old_string must match exactly, indentation too, without Read's line numbers, and stand in the file once: give a
      few lines around it, or set replace_all (as for renaming).
    - Line breaks are written as \\n whatever the file uses.
    - An empty old_string creates a file that does not exist yet.
    - Prefer it to Write for changing a file; not for writing most of it anew.
    """

    name = "Edit"
    search_hint = "change replace text in file"
    input_model = EditInput

    def get_path(self, input: EditInput) -> str | None:
        """Return the file."""
        return input.file_path

    def backfill_observable_input(self, input: Mapping[str, Any], ctx: ToolContext) -> Mapping[str, Any]:
        """Make the path absolute for hooks and rules."""
        return {**input, "file_path": str(ctx.resolve(input["file_path"]))}

    def activity(self, input: EditInput) -> str:
        """Say what is edited."""
        return f"Editing {input.file_path}"

    def suggestions(self, input: EditInput, scope: PermissionScope) -> Sequence[RuleUpdate]:
        """Offer to accept all edits of this session, where the file lies in the working directories."""
        inside = any((scope.cwd / input.file_path).is_relative_to(folder) for folder in scope.directories)
        return ({"type": "setMode", "mode": "acceptEdits", "destination": "session"},) if inside else ()

    async def preview(self, input: EditInput, ctx: ToolContext) -> View | None:
        """Show the change as a diff; None where the text is not in the file once, which the call will then say."""
        from . import match, patch
        from .replace import replacements
        from .snippet import as_diff

        path = ctx.resolve(input.file_path)
        if not input.old_string:
            return as_diff(_data(input, str(path), None, [], 0))
        text = (await ctx.files.load(path)).raw_text
        found = match.find(text, input.old_string)
        if not found.spans or (len(found.spans) > 1 and not input.replace_all):
            return None
        made = replacements(text, found, input.old_string, input.new_string)
        return as_diff(_data(input, str(path), text, patch.structured_patch(text, found.spans, made), len(made)))

    def classifier_input(self, input: EditInput) -> str:
        """Return path and new text."""
        return f"{input.file_path}: {input.new_string}"

    async def validate_input(self, input: EditInput, ctx: ToolContext) -> str | None:
        """Refuse an edit that would change nothing, or write what is no text."""
        del ctx
        if input.old_string == input.new_string:
            return "old_string and new_string are the same: there is nothing to change."
        try:
            input.new_string.encode()
        except UnicodeEncodeError as error:
            return f"new_string holds half a character (a lone surrogate) at position {error.start}; send it whole."
        return None

    async def call(self, input: EditInput, ctx: ToolContext, progress: Progress) -> ToolResult:
        """Find the text, replace it, and remember the new state as read."""
        del progress
        from . import checks, match, patch
        from .replace import replacements, splice

        path = ctx.resolve(input.file_path)
        if not input.old_string:
            return await _fill(input, ctx)
        loaded = await checks.load_unchanged(path, ctx)
        text = loaded.raw_text
        found = match.find(text, input.old_string)
        checks.require_place(path, text, found, input)
        made = replacements(text, found, input.old_string, input.new_string)
        after = splice(text, found, made)
        if after == text:
            raise ToolFailed(f"{path} already reads so: the edit would change nothing.")
        # The new text brings its line endings along: `\n` in it is meant as it stands.
        written = await checks.write(path, after, like=replace(loaded, newline="\n"), expect=loaded.digest, ctx=ctx)
        checks.remember(written, ctx)
        hunks = patch.structured_patch(text, found.spans, made)
        return ToolResult(_data(input, str(path), text, hunks, len(made)))

    def to_result_block(self, data: Any, tool_use_id: str) -> ToolResultBlock:
        """Show the changed lines, numbered as they are now."""
        from .snippet import changed_lines

        count = data["replaced"]
        what = f"Replaced {count} occurrences in" if count > 1 else "Edited" if count else "Created"
        text = f"{what} {data['filePath']}.\n{changed_lines(data['structuredPatch'])}".rstrip()
        return {"type": "tool_result", "tool_use_id": tool_use_id, "content": text}

    def render_result(self, data: Any) -> View | None:
        """Show the change as a diff."""
        from .snippet import as_diff

        return as_diff(data)


async def _fill(input: EditInput, ctx: ToolContext) -> ToolResult:
    """Create the file, or fill an empty one."""
    from . import checks, patch

    path = ctx.resolve(input.file_path)
    empty = await checks.nothing_there(path, ctx)
    expect = None if empty is None else empty.digest
    written = await checks.write(path, input.new_string, like=empty, expect=expect, ctx=ctx)
    checks.remember(written, ctx)
    hunks = patch.structured_patch("", [(0, 0)], [input.new_string])
    return ToolResult(_data(input, str(path), None if empty is None else "", hunks, 0))


def _data(input: EditInput, path: str, before: str | None, hunks: Any, replaced: int) -> dict[str, Any]:
    return {
        "filePath": path,
        "oldString": input.old_string,
        "newString": input.new_string,
        "originalFile": before if before is None or len(before) <= KEPT_CHARS else None,
        "structuredPatch": hunks,
        "userModified": False,
        "replaceAll": input.replace_all,
        "replaced": replaced,
    }
