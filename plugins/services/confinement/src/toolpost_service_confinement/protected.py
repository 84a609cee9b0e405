"""Places in a writable folder that run code or steer the agent: read-only inside, and not to be made there."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from .repositories import of_repository

NEVER_MADE: Final = (".toolpost", ".claude", ".mcp.json")
"""Names that are kept from being made at the top of a writable folder, as a repository is."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


FOLDERS: Final = _words("""
    .toolpost .claude .vscode .cursor .zed .idea .fleet .run .husky .githooks .devcontainer .ssh .gnupg .aws .kube .docker
""")
"""Folders of agents, editors, hooks and keys."""

FILES: Final = _words("""
    .mcp.json .claude.json .toolpost.json .bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc
    .zshenv .zprofile .zlogin .zlogout .kshrc .cshrc .tcshrc .login .inputrc .envrc .gitconfig .gitmodules .ripgreprc .vimrc
    .exrc .nvimrc .tmux.conf .screenrc .pre-commit-config.yaml .pre-commit-config.yml .git-credentials .netrc .pypirc
""")
"""Start-up files of shells and tools, and credentials."""

_NAMES: Final = sorted(FOLDERS | FILES)

_AT_HOME: Final = (
    *(".ssh", ".config/autostart", ".config/systemd", ".config/environment.d", ".config/fish", ".config/git"),
    *(
        ".config/nvim",
        ".local/bin",
        ".local/share/systemd",
        ".local/share/dbus-1",
        ".cargo/bin",
        "bin",
        "Library/LaunchAgents",
    ),
)
"""Where programs lie that a person starts by name or that start by themselves, and what these read first."""


def installation() -> Iterator[Path]:
    """Yield where this program and what it has yet to import lie: a command that changed them would run outside, as us.

    What is installed in editable form is left out: who works on it means to change it.
    """
    if sys.prefix != sys.base_prefix:
        yield Path(sys.prefix)
    yield from (Path(entry) for entry in sys.path if entry.endswith(("site-packages", "dist-packages")))


def protected_in(root: Path) -> Iterator[Path]:
    """Yield what is protected at the top of a writable folder, and what must not come to be there."""
    yield from (root / name for name in NEVER_MADE)
    yield from (root / name for name in _NAMES if os.path.lexists(f"{root}/{name}"))
    yield from of_repository(root / ".git")


def never_made_at_home(home: Path) -> Iterator[Path]:
    """Yield what programs read from the home folder when they start, and where they lie, there or not."""
    yield from (home / name for name in (*_AT_HOME, *sorted(FILES)))
