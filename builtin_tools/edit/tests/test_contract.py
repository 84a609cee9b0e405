from __future__ import annotations

import hashlib

from toolpost import FileRecord, ToolContext
from toolpost.testing import ToolContract
from toolpost_tool_edit import Edit


class TestEdit(ToolContract):
    tool = Edit
    example = {"file_path": "notes.txt", "old_string": "one", "new_string": "1"}
    examples_invalid = (
        {"file_path": "notes.txt", "old_string": "one", "new_string": "one"},
        {"file_path": "notes.txt", "old_string": "three", "new_string": "3"},
        {"file_path": "unread.txt", "old_string": "one", "new_string": "1"},
    )
    files = {"notes.txt": "one\ntwo\n", "unread.txt": "one\n"}
    max_prompt_chars = 900

    async def prepare(self, ctx: ToolContext) -> None:
        data = await ctx.files.read_bytes(ctx.cwd / "notes.txt")
        digest = hashlib.sha256(data).hexdigest()
        ctx.reads.put(ctx.cwd / "notes.txt", FileRecord(digest=digest, mtime_ns=0, size=len(data)))
