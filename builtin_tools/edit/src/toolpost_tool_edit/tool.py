"""The tool Edit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from toolpost import Progress, Tool, ToolFailed, ToolResult

if TYPE_CHECKING:
    from pathlib import Path

    from toolpost import Change, PermissionScope, RuleUpdate, TextFile, ToolContext, ToolResultBlock, View

    from .match import Found

BOM = "\ufeff"
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
        """Show the change as a diff."""
        from .snippet import as_diff

        if not input.old_string:
            return as_diff(_data(input, str(ctx.resolve(input.file_path)), None, [], 0))
        plan = await _plan(input, ctx)
        return as_diff(_data(input, str(plan.path), plan.file.raw_text, plan.changes, len(plan.made)))

    def classifier_input(self, input: EditInput) -> str:
        """Return path and new text."""
        return f"{input.file_path}: {input.new_string}"

    async def validate_input(self, input: EditInput, ctx: ToolContext) -> str | None:
        """Refuse an edit that could not be made, before anybody is asked about it."""
        if input.old_string == input.new_string:
            return "old_string and new_string are the same: there is nothing to change."
        try:
            input.new_string.encode()
        except UnicodeEncodeError as error:
            return f"new_string holds half a character (a lone surrogate) at position {error.start}; send it whole."
        if input.old_string:
            await _plan(input, ctx)
        return None

    async def call(self, input: EditInput, ctx: ToolContext, progress: Progress) -> ToolResult:
        """Find the text, replace it, and remember the new state as read."""
        del progress
        from . import checks
        from .replace import splice

        if not input.old_string:
            return await _fill(input, ctx)
        plan = await _plan(input, ctx)
        before, text, path = plan.file, plan.file.raw_text, plan.path
        after = splice(text, plan.found, plan.made)
        # The new text brings its line endings along: `\n` in it is meant as it stands.
        await checks.write(path, after, like=replace(before, newline="\n"), expect=before.digest, ctx=ctx)
        return ToolResult(_data(input, str(path), text, plan.changes, len(plan.made)))

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


class Plan(NamedTuple):
    """An edit that can be made: the file as it is, the places, and what comes there."""

    path: Path
    file: TextFile
    found: Found
    made: list[str]

    @property
    def changes(self) -> list[Change]:
        """The edit as changes of the file's text."""
        return [(start, end, made) for (start, end), made in zip(self.found.spans, self.made, strict=True)]


async def _plan(input: EditInput, ctx: ToolContext) -> Plan:
    """Find what is to be replaced; raises ToolFailed where the edit can't be made."""
    from . import checks, match
    from .replace import replacements

    path = ctx.resolve(input.file_path)
    file = await checks.load_unchanged(path, ctx)
    if file.bom and input.old_string.startswith(BOM):
        # It is no part of the text, and stays where it is.
        input = replace(input, old_string=input.old_string[1:], new_string=input.new_string.removeprefix(BOM))
    found = match.find(file.raw_text, input.old_string)
    checks.require_place(path, file.raw_text, found, input)
    made = replacements(file.raw_text, found, input.old_string, input.new_string)
    plan = Plan(path, file, found, made)
    if all(file.raw_text[start:end] == new for start, end, new in plan.changes):
        raise ToolFailed(f"{path} already reads so: the edit would change nothing.")
    return plan


async def _fill(input: EditInput, ctx: ToolContext) -> ToolResult:
    """Create the file, or fill an empty one."""
    from . import checks

    path = ctx.resolve(input.file_path)
    empty = await checks.nothing_there(path, ctx)
    expect = None if empty is None else empty.digest
    await checks.write(path, input.new_string, like=empty, expect=expect, ctx=ctx)
    changes = [(0, 0, input.new_string)]
    return ToolResult(_data(input, str(path), None if empty is None else "", changes, 0))


def _data(input: EditInput, path: str, before: str | None, changes: Sequence[Change], replaced: int) -> dict[str, Any]:
    from toolpost import patch_of_changes

    return {
        "filePath": path,
        "oldString": input.old_string,
        "newString": input.new_string,
        "originalFile": before if before is None or len(before) <= KEPT_CHARS else None,
        "structuredPatch": patch_of_changes(before or "", changes),
        "userModified": False,
        "replaceAll": input.replace_all,
        "replaced": replaced,
    }
