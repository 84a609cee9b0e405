"""What was typed before, kept in the configuration folder."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from prompt_toolkit.history import FileHistory


def config_dir(env: Mapping[str, str]) -> Path:
    """Return the user's configuration folder."""
    given = env.get("TOOLPOST_CONFIG_DIR")
    return Path(given).expanduser() if given else Path(env.get("HOME") or Path.home()) / ".toolpost"


class PromptHistory(FileHistory):
    """A history file that only its owner can read; where it can't be written, the history lasts for the sitting."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        super().__init__(str(folder / "prompt_history"))

    def load_history_strings(self) -> list[str]:
        """Return earlier prompts, newest first; none where the file can't be read."""
        try:
            return list(super().load_history_strings())
        except OSError:
            return []

    def store_string(self, string: str) -> None:
        """Append a prompt."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            os.close(os.open(self.filename, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600))
            super().store_string(string)
        except (OSError, UnicodeError):
            return
