"""What of a result goes to the model: placeholders, and files for what is too long."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from toolpost import ToolResultBlock

PREVIEW_CHARS: Final = 2_000
"""Length of the preview of a result that was moved to a file (architecture.md section 6)."""
MESSAGE_CHARS: Final = 200_000
"""The most that the results of one message may have together (architecture.md section 6)."""


@dataclass(frozen=True)
class ResultStore:
    """Moves long results to the session's folder; `folder` None keeps them inline but cut."""

    folder: Path | None

    def fit(self, block: ToolResultBlock, limit: float, tool_name: str) -> ToolResultBlock:
        """Return the block as the model gets it: never empty, and over `limit` characters only a preview."""
        content = block["content"]
        if not content:
            return {**block, "content": f"({tool_name} completed with no output)"}
        if size_of(block) <= limit:
            return block
        return self._moved(block)

    def fit_message(self, blocks: Sequence[ToolResultBlock]) -> list[ToolResultBlock]:
        """Return the results of one message, the largest moved to files until they fit together."""
        fitted = list(blocks)
        sizes = [size_of(block) for block in fitted]
        for index in sorted(range(len(fitted)), key=sizes.__getitem__, reverse=True):
            if sum(sizes) <= MESSAGE_CHARS or sizes[index] <= PREVIEW_CHARS:
                break
            fitted[index] = self._moved(fitted[index])
            sizes[index] = size_of(fitted[index])
        return fitted

    def _moved(self, block: ToolResultBlock) -> ToolResultBlock:
        text = _text(block["content"])
        preview = _cut(text)
        where = self._write(block["tool_use_id"], text)
        told = (
            f"The whole output is in {where}; read parts of it from there."
            if where
            else "The rest is lost: no place to keep it."
        )
        head = f"Output too long ({len(text):,} characters). {told}"
        note = f"{head}\nIts first {len(preview):,} characters:\n\n{preview}\n..."
        rest = [part for part in block["content"] if not isinstance(part, str) and part.get("type") != "text"]
        content: Any = [{"type": "text", "text": note}, *rest] if rest else note
        return {**block, "content": content}

    def _write(self, tool_use_id: str, text: str) -> Path | None:
        if self.folder is None:
            return None
        name = "".join(c if c.isalnum() or c in "-_" else "_" for c in tool_use_id)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            path = self.folder / f"{name}.txt"
            path.write_text(text, encoding="utf-8", errors="surrogateescape", newline="")
        except OSError:
            return None
        return path


def error_block(tool_use_id: str, text: str) -> ToolResultBlock:
    """Return an error result."""
    return {"type": "tool_result", "tool_use_id": tool_use_id, "content": text, "is_error": True}


def size_of(block: ToolResultBlock) -> int:
    """Return the number of characters of a result's text."""
    content = block["content"]
    if isinstance(content, str):
        return len(content)
    return sum(len(str(part.get("text", ""))) for part in content)


def with_text(block: ToolResultBlock, text: str) -> ToolResultBlock:
    """Return the result with a text after it."""
    content = block["content"]
    if isinstance(content, str):
        return {**block, "content": f"{content}\n\n{text}" if content else text}
    return {**block, "content": [*content, {"type": "text", "text": text}]}


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(str(part["text"]) for part in content if part.get("type") == "text")


def _cut(text: str) -> str:
    """Cut the preview at the end of a line, where one is near."""
    head = text[:PREVIEW_CHARS]
    end = head.rfind("\n")
    return head[:end] if end > PREVIEW_CHARS // 2 else head
