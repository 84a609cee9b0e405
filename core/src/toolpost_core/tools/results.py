"""What of a result goes to the model: placeholders, and files for what is too long."""

from __future__ import annotations

import itertools
import os
from typing import TYPE_CHECKING, Any, Final

from toolpost._frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from toolpost import ToolResultBlock

PREVIEW_CHARS: Final = 2_000
"""Length of the preview of a result that was moved to a file (architecture.md section 6)."""
RESULT_CHARS: Final = 100_000
"""The most that the text of a refusal may have; tools say it of their results themselves."""
MESSAGE_CHARS: Final = 200_000
"""The most that the results of one message may have together (architecture.md section 6)."""


@frozen()
class ResultStore:
    """Moves long results to the session's folder; `folder` None keeps them inline but cut."""

    folder: Path | None

    def fit(self, block: ToolResultBlock, limit: float, tool_name: str) -> ToolResultBlock:
        """Return the block as the model gets it: never empty, and over `limit` characters only a preview."""
        block = _without_blanks(block)
        if not block["content"]:
            how = "failed" if block.get("is_error") else "completed"
            return {**block, "content": f"({tool_name} {how} with no output)"}
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
        name = "".join(c if c.isalnum() or c in "-_" else "_" for c in tool_use_id)[:100]
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            return _kept(self.folder, name, _bytes(text))
        except OSError:
            return None


def _kept(folder: Path, name: str, data: bytes) -> Path:
    """Write a file of that name, or with a number behind it where the name is taken by something else."""
    for number in itertools.count(1):
        path = folder / (f"{name}.txt" if number == 1 else f"{name}-{number}.txt")
        try:
            with open(path, "xb", opener=_for_the_owner) as file:
                file.write(data)
        except FileExistsError:
            if path.read_bytes() != data:
                continue
        except OSError:
            path.unlink(missing_ok=True)
            raise
        return path
    raise AssertionError("unreachable")


def _for_the_owner(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _bytes(text: str) -> bytes:
    try:
        return text.encode("utf-8", "surrogateescape")  # bytes of a program that were no text
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def _without_blanks(block: ToolResultBlock) -> ToolResultBlock:
    """Leave out texts that are blank: the service refuses them."""
    content: Any = block["content"]
    if isinstance(content, str):
        return block if content.strip() else {**block, "content": ""}
    kept = [part for part in content if part.get("type") != "text" or str(part.get("text", "")).strip()]
    return block if len(kept) == len(content) else {**block, "content": kept}


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
