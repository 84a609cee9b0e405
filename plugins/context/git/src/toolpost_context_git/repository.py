"""What a repository's own files tell without starting git."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

_HEADS = "ref: refs/heads/"
_LIMIT = 65_536


@dataclass(frozen=True)
class Repository:
    """A repository: its work tree, the tree's own git folder, and the one that all its worktrees share."""

    root: Path
    git_dir: Path
    common_dir: Path

    @property
    def branch(self) -> str:
        """The current branch, or the start of the commit that is checked out without one."""
        head = read(self.git_dir / "HEAD").strip()
        return head.removeprefix(_HEADS) if head.startswith(_HEADS) else f"none ({head[:12]} is checked out)"

    @property
    def has_commits(self) -> bool:
        """Whether any branch has a commit; a repository whose branches are not in files counts as having some."""
        heads, packed = self.common_dir / "refs/heads", self.common_dir / "packed-refs"
        return not heads.is_dir() or packed.exists() or any(path.is_file() for path in heads.rglob("*"))

    @property
    def main_branch(self) -> str:
        """The branch that the remote calls its default, else `main` or `master` if there is one, else empty."""
        remote = read(self.common_dir / "refs/remotes/origin/HEAD").strip()
        if remote:
            return remote.removeprefix("ref: refs/remotes/origin/")
        packed = read(self.common_dir / "packed-refs", limit=1_000_000)
        for name in ("main", "master"):
            if (self.common_dir / "refs/heads" / name).is_file() or f" refs/heads/{name}\n" in packed:
                return name
        return ""

    @property
    def may_name_filters(self) -> bool:
        """Whether the repository's configuration may name programs that `git status` would run on file contents."""
        configs = (self.common_dir / "config", self.git_dir / "config.worktree")
        texts = [read(path, limit=_LIMIT).lower() for path in configs]
        return any("filter" in text or "include" in text or len(text) >= _LIMIT for text in texts)


def find_repository(folder: Path) -> Repository | None:
    """Return the repository that `folder` lies in.

    A folder that looks like a git folder itself ends the search: git would take its configuration for a bare
    repository's, and such a folder can be checked in.
    """
    for candidate in (folder, *folder.parents):
        dot_git = candidate / ".git"
        if dot_git.is_dir():
            return Repository(candidate, dot_git, dot_git)
        if dot_git.is_file():
            return _linked(candidate, dot_git)
        if (candidate / "HEAD").is_file() and (candidate / "objects").is_dir():
            return None
    return None


def _linked(root: Path, dot_git: Path) -> Repository | None:
    """Follow the `.git` file of a worktree or submodule."""
    target = read(dot_git).strip().removeprefix("gitdir:").strip()
    git_dir = root / target
    if not target or not git_dir.is_dir():
        return None
    common = read(git_dir / "commondir").strip()
    return Repository(root, git_dir, git_dir / common if common else git_dir)


def read(path: Path, *, limit: int = _LIMIT) -> str:
    """Return the first `limit` bytes as text; empty where the file can't be read."""
    try:
        with path.open("rb") as file:
            return file.read(limit).decode(errors="replace")
    except OSError:
        return ""
