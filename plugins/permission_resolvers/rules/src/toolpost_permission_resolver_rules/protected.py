"""Places that no rule and no mode changes without a person's yes: what is there runs code or steers the agent."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from toolpost.permissions import PermissionScope

from .paths import Spellings, spellings
from .trees import Tree, below, tree_of


def _words(text: str) -> frozenset[str]:
    return frozenset(text.casefold().split())


FOLDERS: Final = _words("""
    .git .claude .toolpost .vscode .cursor .zed .idea .husky .devcontainer .ssh .gnupg .aws .kube .docker .cargo .yarn
    .githooks .vim .nvim .fleet .run .agents .codex .gemini .windsurf .continue .opencode .mise .lefthook .emacs.d .direnv
""")
"""Folders of version control, agents, editors, hooks and keys."""

FILES: Final = _words("""
    .bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin .zlogout
    .kshrc .cshrc .tcshrc .login .inputrc .envrc .gitconfig .gitmodules .npmrc .yarnrc .yarnrc.yml .pnpmfile.cjs
    .ripgreprc .vimrc .exrc .nvimrc .tmux.conf .screenrc .pre-commit-config.yaml
    .pre-commit-config.yml .mcp.json .claude.json .toolpost.json .xinitrc .xprofile .pythonrc .pythonrc.py
    .bunfig.toml bunfig.toml .lefthook.yml lefthook.yml .tool-versions .mise.toml mise.toml authorized_keys id_rsa
    id_ed25519 id_ecdsa id_dsa .git-credentials HEAD .gdbinit .lldbinit .emacs .dir-locals.el .psqlrc .sqliterc .irbrc
    .pryrc .pdbrc .rprofile
""")
"""Start-up files of shells and tools, credentials, and the file that makes a folder look like a repository."""

HOME_FILES: Final = _words(".netrc .pypirc .curlrc .wgetrc")
"""Credentials and settings that programs only read from the home folder; elsewhere they are files like any other."""

_KEPT: Final = FOLDERS | FILES | HOME_FILES
_HARMLESS_DEVICES: Final = _words(
    "null zero full random urandom tty pts ptmx stdin stdout stderr fd shm mqueue tcp udp"
)


def protected(path: Path, scope: PermissionScope, real: Path | None = None) -> str:
    """Return why a path is changed by nobody without a person's yes, or nothing.

    A path ending in `**` stands for all that lies below.
    """
    tree = tree_of(path)
    if tree is None:
        found = _first(spellings(path, real), scope)
    elif not (found := _first(spellings(tree.folder), scope)):
        entries = below(tree, _steering(tree, scope))
        if entries is None:
            return f"too much lies below {tree.folder} to see whether any of it is protected"
        found = next((found for places in entries if (found := _first(places, scope))), "")
    return f"{found} is protected: it is never changed without a person's yes" if found else ""


def _steering(tree: Tree, scope: PermissionScope) -> Callable[[str], bool]:
    """What tells whether something with a name, or in a folder of that name, may be protected."""
    if any(place.parts[:2] in (("/",), ("/", "dev")) for place in spellings(tree.folder)):
        return lambda _: True
    own = (
        frozenset(_plain(part) for part in scope.config_dir.parts) if scope.config_dir is not None else frozenset[str]()
    )
    return lambda name: (plain := _plain(name)) in _KEPT or plain in own


def _first(places: Spellings, scope: PermissionScope) -> str:
    return next((found for place in places if (found := _by_name(place, scope))), "")


def _plain(name: str) -> str:
    """A name as those file systems take it that know no case, streams, and dots and blanks at the end."""
    return name.partition(":")[0].rstrip(". ").casefold()


def is_memory(places: Spellings, scope: PermissionScope) -> bool:
    """Whether a file is one of a project's memories, which lie in the agent's own folder and steer nothing else there."""
    return scope.config_dir is not None and all(_in_memory(place, scope.config_dir / "projects") for place in places)


def critical(path: Path, scope: PermissionScope) -> bool:
    """Whether changing the path as a whole would take the project, the home folder or the system with it."""
    places = (scope.project, scope.home, *scope.directories)
    return any(kept.is_relative_to(place) for place in spellings(path) for kept in places)


def _in_memory(path: Path, projects: Path) -> bool:
    if not path.is_relative_to(projects) or path.suffix != ".md":
        return False
    parts = path.relative_to(projects).parts
    return len(parts) > 2 and parts[1] == "memory" and not any(part.startswith(".") for part in parts[2:])


def _by_name(path: Path, scope: PermissionScope) -> str:
    # The names above a working directory are not the model's choice, such as a worktree's place in `.claude`.
    roots = [folder for folder in (scope.directories or (scope.project,)) if path.is_relative_to(folder)]
    root = max(roots, key=lambda folder: len(folder.parts), default=None)
    parts = path.relative_to(root).parts if root else path.parts
    if scope.config_dir is not None and path.is_relative_to(scope.config_dir):
        return "the agent's own folder"
    if path.parts[:2] == ("/", "dev") and path.parts[2:3] and path.parts[2] not in _HARMLESS_DEVICES:
        return f"the device {path}"
    for at, part in enumerate(parts):
        name = _plain(part)
        last = at == len(parts) - 1
        if name in FOLDERS or (last and (name in FILES or (name in HOME_FILES and path.parent == scope.home))):
            return part
    return ""
