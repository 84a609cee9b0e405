"""Where memories lie: one folder for a repository, and never where somebody else's lie."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from toolpost import project_key
from toolpost.testing import make_scope
from toolpost_context_memory.places import folder_of


def folder(project: Path, home: Path, **scope: Any) -> Path | None:
    return folder_of(make_scope(project, home=home, **scope))


def git(where: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    subprocess.run(["git", *identity, *arguments], cwd=where, check=True, capture_output=True)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    return tmp_path.resolve() / "home"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    made = tmp_path.resolve() / "repository"
    (made / "src").mkdir(parents=True)
    git(made, "init", "-q")
    git(made, "commit", "-q", "--allow-empty", "-m", "first")
    return made


def test_all_work_trees_and_folders_of_a_repository_share_one(repository: Path, home: Path) -> None:
    tree = repository.parent / "tree"
    git(repository, "worktree", "add", "-q", str(tree))
    expected = home / ".toolpost/projects" / project_key(repository) / "memory"
    assert [folder(place, home) for place in (repository, repository / "src", tree)] == [expected] * 3


def test_a_git_file_that_only_claims_to_belong_there_gets_its_own(repository: Path, home: Path) -> None:
    claims = repository.parent / "claims"
    (claims / "fake").mkdir(parents=True)
    (claims / "fake/commondir").write_text(f"{repository}/.git\n")
    (claims / "fake/gitdir").write_text(f"{claims}/.git\n")
    for target in (f"{claims}/fake", f"{repository}/.git", f"{repository}/.git/worktrees/none"):
        (claims / ".git").write_text(f"gitdir: {target}\n")
        assert folder(claims, home) == home / ".toolpost/projects" / project_key(claims) / "memory"


@pytest.mark.parametrize(
    "off",
    [
        {"settings": {"autoMemoryEnabled": False}},
        {"env": {"TOOLPOST_DISABLE_AUTO_MEMORY": "1"}},
        {"env": {"CLAUDE_CODE_DISABLE_AUTO_MEMORY": "true"}},
    ],
)
def test_settings_and_environment_switch_it_off(tmp_path: Path, home: Path, off: dict[str, Any]) -> None:
    assert folder(tmp_path, home, **off) is None
    assert folder(tmp_path, home, env={"TOOLPOST_DISABLE_AUTO_MEMORY": "0"}) is not None


def test_the_person_may_name_another_folder(tmp_path: Path, home: Path) -> None:
    assert folder(tmp_path / "p", home, settings={"autoMemoryDirectory": "~/notes"}) == home / "notes"


@pytest.mark.parametrize("given", ["/", "~/", "notes", "~/notes/..", "~/.toolpost"])
def test_a_folder_that_holds_more_than_memories_is_refused_aloud(tmp_path: Path, home: Path, given: str) -> None:
    said: list[str] = []
    (tmp_path / "p").mkdir()
    assert folder(tmp_path / "p", home, settings={"autoMemoryDirectory": given}, report=said.append) is None
    assert "autoMemoryDirectory" in said[0]


def test_a_folder_that_is_a_link_is_refused_aloud(tmp_path: Path, home: Path) -> None:
    said: list[str] = []
    place = folder(tmp_path, home)
    assert place is not None
    place.parent.mkdir(parents=True)
    place.symlink_to(home)
    assert folder(tmp_path, home, report=said.append) is None
    assert "is a link" in said[0]
