"""Places in a writable folder that run code or steer the agent: read-only inside, and not to be made there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

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

_OF_GIT: Final = ("hooks", "config", "config.worktree", "info/attributes")
"""What in a repository names programs that git runs."""


def protected_in(root: Path) -> Iterator[Path]:
    """Yield what is protected at the top of a writable folder, and what must not come to be there."""
    yield from (root / name for name in NEVER_MADE)
    yield from (root / name for name in sorted(FOLDERS | FILES) if os.path.lexists(root / name))
    yield from of_repository(root / ".git")


def never_made_at_home(home: Path) -> Iterator[Path]:
    """Yield what programs read from the home folder when they start, there or not."""
    yield from (home / name for name in (".ssh", *sorted(FILES)))


def of_repository(git: Path) -> Iterator[Path]:
    """Yield what is protected in a repository's folder; the whole where there is none, or a file that points to one."""
    if git.is_symlink() or not git.is_dir() or not (git / "config").exists():
        # Git would make what it misses; a repository that is not whole is left as it is.
        yield git
        return
    yield git / "hooks"
    yield from (git / name for name in _OF_GIT if os.path.lexists(git / name))
    modules = git / "modules"
    if modules.is_dir():
        yield from (
            module / name for module in sorted(modules.iterdir()) for name in _OF_GIT if (module / name).exists()
        )
