"""Long texts of hooks go to a file, and the conversation gets their beginning."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from toolpost_lifecycle_settings_hooks.said import Said

LIMIT = 10_000
_PREVIEW = 2_000


def spilled(said: Said, folder: Path | None) -> Said:
    """Return an answer in which no text has more than 10,000 characters."""
    return replace(
        said,
        context=_preview(said.context, folder),
        reason=_preview(said.reason, folder),
        system_message=_preview(said.system_message, folder),
        stop_reason=_preview(said.stop_reason, folder),
    )


def _preview(text: str, folder: Path | None) -> str:
    if len(text) <= LIMIT:
        return text
    start = f"{text[:_PREVIEW]}\n… ({len(text):,} characters in all"
    if folder is None:
        return f"{start}; the rest was cut off)"
    from hashlib import sha256

    data = text.encode(errors="replace")
    file = folder / f"hook-{sha256(data).hexdigest()[:16]}.txt"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    except OSError as error:
        return f"{start}; the rest was cut off: {error})"
    return f"{start}; the whole text is in {file})"
