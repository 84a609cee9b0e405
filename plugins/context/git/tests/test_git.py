from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from toolpost import Section, SessionScope
from toolpost_context_git import Git
from toolpost_context_git.repository import find_repository

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")


def git(folder: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=Ada", "-c", "user.email=ada@example.com", "-c", "protocol.file.allow=always")
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text("[user]\n\tname = Grace\n\temail = grace@example.com\n")
    return {"PATH": os.environ["PATH"], "HOME": str(home), "GIT_CONFIG_NOSYSTEM": "1"}


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    folder = tmp_path / "repo"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    (folder / "a.txt").write_text("one\n")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "First commit")
    return folder


async def sections(folder: Path, env: dict[str, str], plugin: Git | None = None, **changes: Any) -> list[Section]:
    places: dict[str, Any] = {"session_id": "s", "project": folder, "cwd": folder, "home": folder, "config_dir": folder}
    scope = SessionScope(**{**places, "env": env, **changes})
    return list(await (plugin or Git()).sections(scope))


async def text_for(folder: Path, env: dict[str, str]) -> str:
    (section,) = await sections(folder, env)
    return section.text


async def test_the_section_tells_branch_user_status_and_commits(repo: Path, env: dict[str, str]) -> None:
    git(repo, "checkout", "-q", "-b", "feature/x")
    (repo / "a.txt").write_text("two\n")
    (repo / "größe.txt").write_text("new\n")
    lines = (await text_for(repo, env)).splitlines()
    assert "Branch: feature/x" in lines
    assert "Main branch: main" in lines
    assert "User: Grace" in lines
    assert " M a.txt" in lines
    assert "?? größe.txt" in lines
    assert lines[-1].endswith(" First commit")


async def test_only_the_last_five_commits_are_listed_newest_first(repo: Path, env: dict[str, str]) -> None:
    for number in range(7):
        git(repo, "commit", "-q", "--allow-empty", "-m", f"Commit {number}")
    text = await text_for(repo, env)
    subjects = [line.partition(" ")[2] for line in text.splitlines()[-5:]]
    assert subjects == ["Commit 6", "Commit 5", "Commit 4", "Commit 3", "Commit 2"]
    assert "First commit" not in text


async def test_a_clean_tree_says_so(repo: Path, env: dict[str, str]) -> None:
    assert "Status: nothing changed" in await text_for(repo, env)


async def test_text_of_the_workspace_goes_before_the_prompt_and_not_into_the_system(
    repo: Path, env: dict[str, str]
) -> None:
    (section,) = await sections(repo, env)
    assert section.user


async def test_outside_a_repository_there_is_nothing(tmp_path: Path, env: dict[str, str]) -> None:
    assert await sections(tmp_path, env) == []


async def test_without_git_installed_there_is_nothing(repo: Path, env: dict[str, str]) -> None:
    assert await sections(repo, env | {"PATH": "/nonexistent"}) == []


async def test_a_git_program_of_the_repository_is_not_taken_for_git(repo: Path, env: dict[str, str]) -> None:
    script(repo / "git", repo / "ran")
    await sections(repo, env | {"PATH": f".:{env['PATH']}"})
    assert not (repo / "ran").exists()


async def test_a_repository_without_a_commit_has_a_branch_and_a_status(tmp_path: Path, env: dict[str, str]) -> None:
    git(tmp_path, "init", "-q", "-b", "trunk")
    (tmp_path / "new.txt").write_text("x")
    text = await text_for(tmp_path, env)
    assert "Branch: trunk" in text
    assert "Last commits, newest first: none yet" in text
    assert "?? new.txt" in text


async def test_a_checked_out_commit_is_named_in_place_of_a_branch(repo: Path, env: dict[str, str]) -> None:
    git(repo, "checkout", "-q", "--detach")
    assert "is checked out)" in await text_for(repo, env)


async def test_a_worktree_has_its_own_branch_and_the_main_branch_of_all(repo: Path, env: dict[str, str]) -> None:
    git(repo, "worktree", "add", "-q", "-b", "side", "../side")
    text = await text_for(repo.parent / "side", env)
    assert "Branch: side" in text
    assert "Main branch: main" in text
    assert "First commit" in text


async def test_the_remotes_default_is_the_main_branch(repo: Path, env: dict[str, str]) -> None:
    git(repo, "branch", "-m", "main", "develop")
    git(repo, "clone", "-q", str(repo), str(repo.parent / "copy"))
    assert "Main branch: develop" in await text_for(repo.parent / "copy", env)


async def test_a_packed_main_branch_is_found(repo: Path, env: dict[str, str]) -> None:
    git(repo, "pack-refs", "--all")
    git(repo, "checkout", "-q", "-b", "other")
    assert "Main branch: main" in await text_for(repo, env)


async def test_the_section_stays_within_2000_characters(repo: Path, env: dict[str, str]) -> None:
    for number in range(60):
        (repo / f"{'long' * 40}{number}.txt").write_text("x")
    text = await text_for(repo, env)
    assert len(text) <= 2_000
    assert "Branch: main" in text


async def test_many_changed_files_are_counted_and_the_commits_still_shown(repo: Path, env: dict[str, str]) -> None:
    for number in range(50):
        (repo / f"{number:02}.txt").write_text("x")
    text = await text_for(repo, env)
    assert "… and 20 more" in text
    assert "First commit" in text


async def test_escape_sequences_in_a_subject_do_not_pass(repo: Path, env: dict[str, str]) -> None:
    git(repo, "commit", "-q", "--allow-empty", "-m", "red \x1b[31mtext")
    assert "\x1b" not in await text_for(repo, env)


def script(path: Path, mark: Path) -> None:
    path.write_text(f"#!/bin/sh\ntouch '{mark}'\ncat\n")
    path.chmod(0o755)


@pytest.mark.parametrize("name", ["plain", "with=equals"])
async def test_filters_of_the_repository_are_not_run(repo: Path, env: dict[str, str], name: str) -> None:
    script(repo / "evil", repo / "ran")
    with (repo / ".git/config").open("a") as config:
        config.write(f'[filter "{name}"]\n\tclean = "{repo / "evil"}"\n\trequired = true\n')
    (repo / ".gitattributes").write_text(f"*.txt filter={name}\n")
    (repo / "a.txt").write_text("two\n")
    assert " M a.txt" in await text_for(repo, env)
    assert not (repo / "ran").exists()


async def test_a_filter_that_an_included_file_names_is_not_run(repo: Path, env: dict[str, str]) -> None:
    script(repo / "evil", repo / "ran")
    (repo / "more").write_text(f'[FILTER "f"]\n\tclean = "{repo / "evil"}"\n\tprocess = "{repo / "evil"}"\n')
    git(repo, "config", "include.path", "../more")
    (repo / ".gitattributes").write_text("*.txt filter=f\n")
    (repo / "a.txt").write_text("two\n")
    assert " M a.txt" in await text_for(repo, env)
    assert not (repo / "ran").exists()


async def test_monitor_hooks_and_signature_programs_are_not_run(repo: Path, env: dict[str, str]) -> None:
    script(repo / "evil", repo / "ran")
    (repo / ".git/hooks").mkdir(exist_ok=True)
    script(repo / ".git/hooks/post-index-change", repo / "ran")
    for key in ("core.fsmonitor", "gpg.program", "core.pager", "core.sshCommand", "diff.external"):
        git(repo, "config", key, str(repo / "evil"))
    git(repo, "config", "log.showSignature", "true")
    (repo / "ran").unlink(missing_ok=True)
    (repo / "a.txt").touch()
    assert "First commit" in await text_for(repo, env)
    assert not (repo / "ran").exists()


async def test_a_checked_in_bare_repository_is_not_looked_at(repo: Path, env: dict[str, str]) -> None:
    bare = repo / "fixture"
    git(repo, "init", "-q", "--bare", str(bare))
    assert find_repository(bare) is None
    assert await sections(bare, env) == []


async def test_a_git_that_hangs_is_left_out_after_its_time(repo: Path, env: dict[str, str], tmp_path: Path) -> None:
    stuck = tmp_path / "bin"
    stuck.mkdir()
    real = shutil.which("git")
    (stuck / "git").write_text(f'#!/bin/sh\nfor a; do [ "$a" = status ] && exec sleep 600; done\nexec {real} "$@"\n')
    (stuck / "git").chmod(0o755)
    (section,) = await sections(repo, env | {"PATH": f"{stuck}:{env['PATH']}"}, Git(timeout=0.3))
    assert "Status: not known" in section.text
    assert "First commit" in section.text


async def test_being_run_by_a_git_hook_does_not_lead_to_another_repository(
    repo: Path, env: dict[str, str], tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init", "-q", "-b", "other")
    text = await text_for(repo, env | {"GIT_DIR": str(other / ".git"), "GIT_WORK_TREE": str(other)})
    assert "First commit" in text


async def test_the_index_is_not_written(repo: Path, env: dict[str, str]) -> None:
    os.utime(repo / "a.txt", (1, 1))
    before = (repo / ".git/index").read_bytes()
    await text_for(repo, env)
    assert (repo / ".git/index").read_bytes() == before


async def test_a_setting_leaves_it_out(repo: Path, env: dict[str, str]) -> None:
    assert await sections(repo, env, settings={"includeGitInstructions": False}) == []
