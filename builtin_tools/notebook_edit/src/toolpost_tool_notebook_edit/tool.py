"""The tool NotebookEdit."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

from toolpost import FileRecord, Progress, Tool, ToolFailed, ToolResult

if TYPE_CHECKING:
    from toolpost import PermissionScope, RuleUpdate, TextFile, ToolContext, ToolResultBlock, View

MOST_IDS = 50
"""Ids named in an error."""


@dataclass(frozen=True)
class NotebookEditInput:
    """Which cell to change, and how."""

    notebook_path: Annotated[str, "Absolute path"]
    new_source: Annotated[str, "The cell's source"]
    cell_id: Annotated[str | None, "Id as Read shows it"] = None
    cell_type: Literal["code", "markdown"] | None = None
    edit_mode: Literal["replace", "insert", "delete"] = "replace"


class NotebookEdit(Tool[NotebookEditInput]):
    """Changes one cell of a Jupyter notebook that was read in this session.

    insert adds a cell after cell_id, without one at the end, and needs cell_type. Outputs of a replaced cell are
    cleared. Only for .ipynb; other files are for Edit.
    """

    name = "NotebookEdit"
    search_hint = "jupyter notebook ipynb cell"
    input_model = NotebookEditInput

    def get_path(self, input: NotebookEditInput) -> str | None:
        """Return the notebook."""
        return input.notebook_path

    def backfill_observable_input(self, input: Mapping[str, Any], ctx: ToolContext) -> Mapping[str, Any]:
        """Make the path absolute for hooks and rules."""
        return {**input, "notebook_path": str(ctx.resolve(input["notebook_path"]))}

    def activity(self, input: NotebookEditInput) -> str:
        """Say what is edited."""
        return f"Editing {input.notebook_path}"

    def suggestions(self, input: NotebookEditInput, scope: PermissionScope) -> Sequence[RuleUpdate]:
        """Offer to accept all edits of this session, where the notebook lies in the working directories."""
        inside = any((scope.cwd / input.notebook_path).is_relative_to(folder) for folder in scope.directories)
        return ({"type": "setMode", "mode": "acceptEdits", "destination": "session"},) if inside else ()

    async def preview(self, input: NotebookEditInput, ctx: ToolContext) -> View | None:
        """Show the change of the cell's source as a diff."""
        return _diff(_data(input, await _plan(input, ctx)))

    def classifier_input(self, input: NotebookEditInput) -> str:
        """Return path and new source."""
        return f"{input.notebook_path}: {input.edit_mode} {input.new_source}"

    async def validate_input(self, input: NotebookEditInput, ctx: ToolContext) -> str | None:
        """Refuse a change that could not be made, before anybody is asked about it."""
        if not input.notebook_path.lower().endswith(".ipynb"):
            return f"{input.notebook_path!r} is no .ipynb file; change other files with Edit."
        try:
            input.new_source.encode()
        except UnicodeEncodeError as error:
            return f"new_source holds half a character (a lone surrogate) at position {error.start}; send it whole."
        if input.edit_mode == "insert" and input.cell_type is None:
            return "insert needs cell_type: code or markdown."
        if input.edit_mode != "insert" and not input.cell_id:
            return f"{input.edit_mode} needs cell_id, as Read shows it."
        await _plan(input, ctx)
        return None

    async def call(self, input: NotebookEditInput, ctx: ToolContext, progress: Progress) -> ToolResult:
        """Change the cell, and remember the new state as read."""
        del progress
        from toolpost import structured_patch

        plan, real = await _plan(input, ctx), ctx.real(input.notebook_path)
        # The new text brings its line endings along: `\n` in it is meant as it stands.
        like = replace(plan.before, newline="\n")
        try:
            written = await ctx.files.write_text(plan.path, plan.after, like=like, expect=plan.before.digest)
        except UnicodeEncodeError as error:
            lacking = error.object[error.start : error.start + 1]
            raise ToolFailed(f"{plan.path} is in {like.encoding}, which has no {lacking!r}. Nothing changed.") from None
        except OSError as error:
            raise ToolFailed(f"Can't write {plan.path}: {error.strerror or error}. Nothing was changed.") from None
        ctx.reads.put(real, FileRecord.of(written))
        patch = structured_patch(plan.before.raw_text, plan.after)
        return ToolResult(_data(input, plan) | {"structuredPatch": patch})

    def to_result_block(self, data: Any, tool_use_id: str) -> ToolResultBlock:
        """Say what was done to which cell."""
        done = {"replace": "Replaced", "insert": "Inserted", "delete": "Deleted"}[data["edit_mode"]]
        text = f"{done} {data['cell_type']} cell {data['cell_id']} of {data['notebook_path']}."
        return {"type": "tool_result", "tool_use_id": tool_use_id, "content": text}

    def render_result(self, data: Any) -> View | None:
        """Show the change of the cell's source as a diff."""
        return _diff(data)


class Plan(NamedTuple):
    """A change that can be made; the cell before and after it, None where there is none."""

    path: Path
    before: TextFile
    after: str
    cell_id: str
    language: str
    old: Mapping[str, Any] | None
    new: Mapping[str, Any] | None


async def _plan(input: NotebookEditInput, ctx: ToolContext) -> Plan:
    """Find the cell and make the new text; raises ToolFailed where the change can't be made."""
    from . import change
    from .notebook import parse

    path = ctx.resolve(input.notebook_path)
    before = await _as_last_seen(path, ctx)
    try:
        book = parse(before.raw_text)
    except ValueError as error:
        raise ToolFailed(f"{path} is not a valid notebook: {error}. Mend its text with Edit or Write.") from None
    at = change.find(book, input.cell_id) if input.cell_id else len(book.cells) - 1
    if at is None:
        raise ToolFailed(_no_such_cell(path, str(input.cell_id), book.cells))
    if input.edit_mode == "insert":
        made = change.new(book, input.new_source, input.cell_type or "code")
        name = str(made.get("id", f"cell-{at + 1}"))
        return Plan(path, before, change.inserted(book, at + 1, made), name, book.language, None, made)
    old, name = book.cells[at], str(input.cell_id)
    if input.edit_mode == "delete":
        return Plan(path, before, change.deleted(book, at), name, book.language, old, None)
    made = change.changed(old, input.new_source, input.cell_type)
    if made == old:
        raise ToolFailed(f"Cell {name} of {path} already reads so: nothing would change.")
    return Plan(path, before, change.replaced(book, at, made), name, book.language, old, made)


async def _as_last_seen(path: Path, ctx: ToolContext) -> TextFile:
    """Return the notebook, which the model must have read as it is."""
    record = ctx.reads.get(ctx.real(path))
    if not _is_file(path):
        raise ToolFailed(f"{path} is no file. To create a notebook use Write.")
    if record is None:
        raise ToolFailed(f"{path} has not been read yet. Read it first, then edit it.")
    try:
        loaded = await ctx.files.load(path)
    except OSError as error:
        raise ToolFailed(f"Can't read {path}: {error.strerror or error}.") from None
    if not record.matches(loaded):
        ctx.reads.outdate(ctx.real(path))
        raise ToolFailed(f"{path} has changed since it was read, by somebody else. Read it again, then edit it.")
    return loaded


def _is_file(path: Path) -> bool:
    return os.path.isfile(path)  # noqa: PTH113 - Path.is_file raises where a folder may not be looked into


def _no_such_cell(path: Path, cell_id: str, cells: Sequence[Mapping[str, Any]]) -> str:
    ids = [str(cell.get("id") or f"cell-{number}") for number, cell in enumerate(cells)]
    if ids.count(cell_id) > 1:
        places = [f"cell-{number}" for number, one in enumerate(ids) if one == cell_id]
        return f"{len(places)} cells of {path} have the id {cell_id!r}; name one of them as {' or '.join(places)}."
    more = f" and {len(ids) - MOST_IDS} more" if len(ids) > MOST_IDS else ""
    named = (
        f"Its cells are {', '.join(ids[:MOST_IDS])}{more}." if ids else "It has no cells; use insert without cell_id."
    )
    return f"{path} has no cell {cell_id!r}. {named}"


def _data(input: NotebookEditInput, plan: Plan) -> dict[str, Any]:
    cell = plan.new or plan.old or {}
    data = {
        "notebook_path": str(plan.path),
        "cell_id": plan.cell_id,
        "cell_type": cell.get("cell_type"),
        "language": plan.language,
        "edit_mode": input.edit_mode,
        "new_source": input.new_source if plan.new is not None else "",
    }
    return data if plan.old is None else data | {"old_source": _source(plan.old)}


def _source(cell: Mapping[str, Any]) -> str:
    source = cell.get("source", "")
    return "".join(map(str, source)) if isinstance(source, list) else str(source)


def _diff(data: Mapping[str, Any]) -> View:
    from toolpost import Diff

    return Diff(f"{data['notebook_path']} ({data['cell_id']})", data.get("old_source"), data["new_source"])
