"""The tool Read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from toolpost import UNLIMITED, Param, Progress, Tool, ToolFailed, ToolResult

from . import refuse, window

if TYPE_CHECKING:
    import os

    from toolpost import FileRecord, ToolContext, ToolResultBlock


@dataclass(frozen=True)
class ReadInput:
    """What to read."""

    file_path: Annotated[str, "Absolute path"]
    offset: Annotated[int | None, Param("First line, counted from 1", minimum=0)] = None
    limit: Annotated[int | None, Param("Number of lines", minimum=1)] = None
    pages: Annotated[str | None, Param("Pages of a PDF, as 1-5; at most 20")] = None
    allow_large: Annotated[bool, "Read four times as much as usual"] = False


class Read(Tool[ReadInput]):
    """Reads a file of the local file system.

    - Text comes as `number<TAB>line`; the number and the tab are no part of the file. Up to 2000 lines a call, lines
      cut at 2000 characters; the result says how to read on with offset and limit. Read a whole file where it fits.
    - PNG, JPEG, GIF and WebP come as pictures, PDFs as documents, .ipynb as cells with ids and outputs.
    - A file must be read before Edit or Write may change it; not again after they did.
    - Read several files in one message where they are independent.
    - Not for folders (Glob) and not for finding text in many files (Grep).
    """

    name = "Read"
    search_hint = "file text image pdf notebook"
    input_model = ReadInput
    max_result_chars: ClassVar[float] = UNLIMITED  # It bounds itself; a copy in a file would have to be read too.

    def is_read_only(self, input: ReadInput) -> bool:
        """Reading changes nothing."""
        del input
        return True

    def is_concurrency_safe(self, input: ReadInput) -> bool:
        """Reads do not disturb one another."""
        del input
        return True

    def is_search_or_read(self, input: ReadInput) -> bool:
        """Front ends may fold reads together."""
        del input
        return True

    def get_path(self, input: ReadInput) -> str | None:
        """Return the file."""
        return input.file_path

    def backfill_observable_input(self, input: Mapping[str, Any], ctx: ToolContext) -> Mapping[str, Any]:
        """Make the path absolute for hooks and rules."""
        return {**input, "file_path": str(ctx.resolve(input["file_path"]))}

    def activity(self, input: ReadInput) -> str:
        """Say what is read."""
        return f"Reading {input.file_path}"

    async def validate_input(self, input: ReadInput, ctx: ToolContext) -> str | None:
        """Refuse a range of pages that is none."""
        del ctx
        if not input.pages:
            return None
        from . import pdf

        wanted = pdf.page_range(input.pages)
        return wanted if isinstance(wanted, str) else None

    async def call(self, input: ReadInput, ctx: ToolContext, progress: Progress) -> ToolResult:
        """Read by what the file holds, whatever it is called."""
        del progress
        from .sources import read

        path, real = ctx.resolve(input.file_path), ctx.real(input.file_path)
        found = refuse.regular_file(path, ctx.cwd)
        if _is_as_shown(ctx.reads.get(real), input, found):
            return ToolResult({"type": "file_unchanged", "file": {"filePath": str(path)}})
        try:
            data, record = await read(path, input, found, ctx)
        except OSError as error:
            raise ToolFailed(refuse.reason(error, path)) from None
        ctx.reads.put(real, record)
        return ToolResult(data)

    def to_result_block(self, data: Any, tool_use_id: str) -> ToolResultBlock:
        """Make the lines, picture or cells that the model reads."""
        return {"type": "tool_result", "tool_use_id": tool_use_id, "content": _content(data)}


def _is_as_shown(record: FileRecord | None, input: ReadInput, found: os.stat_result) -> bool:
    """Whether a Read of the same lines stands in the conversation and the file is still the same."""
    return (
        record is not None
        and record.shown
        and not input.pages
        and not input.allow_large
        and (record.offset, record.limit) == (input.offset, input.limit)
        and (record.mtime_ns, record.size) == (found.st_mtime_ns, found.st_size)
    )


def _content(data: Mapping[str, Any]) -> Any:
    file = data["file"]
    match data["type"]:
        case "file_unchanged":
            return f"{file['filePath']} is unchanged since you read these lines; their text above is still right."
        case "image":
            source = {"type": "base64", "media_type": file["type"], "data": file["base64"]}
            return [{"type": "image", "source": source}, *_scale(file["dimensions"])]
        case "parts":
            from . import pdf

            return pdf.blocks(data)
        case "pdf":
            source = {"type": "base64", "media_type": "application/pdf", "data": file["base64"]}
            return [{"type": "document", "source": source}]
        case "notebook":
            from . import notebook

            return notebook.render(file["cells"])
        case _:
            return window.written(file, data.get("note", ""))


def _scale(size: Mapping[str, int]) -> list[dict[str, Any]]:
    """Tell how places in a picture that was made smaller are to be reckoned."""
    was, shown = (size["originalWidth"], size["originalHeight"]), (size["displayWidth"], size["displayHeight"])
    if was == shown:
        return []
    factor = max(was) / max(shown)
    text = f"(Shown at {shown[0]}x{shown[1]}, the original has {was[0]}x{was[1]}: multiply places by {factor:.2f}.)"
    return [{"type": "text", "text": text}]
