from __future__ import annotations

import hashlib

from toolpost import FileRecord, ToolContext
from toolpost.testing import ToolContract
from toolpost_tool_notebook_edit import NotebookEdit

BOOK = '{"cells": [{"cell_type": "markdown", "id": "a", "metadata": {}, "source": "one"}], "metadata": {}}'


class TestNotebookEdit(ToolContract):
    tool = NotebookEdit
    example = {"notebook_path": "n.ipynb", "cell_id": "a", "new_source": "two"}
    examples_invalid = (
        {"notebook_path": "n.ipynb", "cell_id": "b", "new_source": "two"},
        {"notebook_path": "n.ipynb", "new_source": "two"},
        {"notebook_path": "n.ipynb", "new_source": "two", "edit_mode": "insert"},
        {"notebook_path": "n.py", "cell_id": "a", "new_source": "two"},
        {"notebook_path": "unread.ipynb", "cell_id": "a", "new_source": "two"},
    )
    files = {"n.ipynb": BOOK, "unread.ipynb": BOOK}
    max_prompt_chars = 900

    async def prepare(self, ctx: ToolContext) -> None:
        data = await ctx.files.read_bytes(ctx.cwd / "n.ipynb")
        digest = hashlib.sha256(data).hexdigest()
        ctx.reads.put(ctx.cwd / "n.ipynb", FileRecord(digest=digest, mtime_ns=0, size=len(data)))
