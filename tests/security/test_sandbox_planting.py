"""What a command in the sandbox leaves behind for others to run, and what the sandbox itself leaves behind."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from tests.security.sandbox_cell import Cell, call, needs_sandbox

from toolpost import ToolUse

pytestmark = needs_sandbox


@pytest.fixture
def repository(cell: Cell) -> Path:
    git = cell.project / ".git"
    subprocess.run(["git", "init", "-q", str(cell.project)], check=True)
    return git


EVIL = "#!/bin/sh\\ntouch /tmp/owned\\n"
PLANTS = {
    "a hook": "printf '%s' '{evil}' > .git/hooks/pre-commit; chmod +x .git/hooks/*; mv .git/hooks .git/h; mkdir .git/hooks",
    "the configuration": "git config core.fsmonitor evil; git config core.hooksPath evil; echo '[core]' >> .git/config; "
    "rm -f .git/config; mv .git/config c; cp c .git/config; ln -sf /tmp/evil .git/config; git remote add x y",
    "another repository": "mv .git old; mkdir .git; git init; rm -rf .git/config .git/hooks; ln -s old .git",
    "a common folder": "mkdir evil; echo '[core] fsmonitor=x' > evil/config; echo ../evil > .git/commondir; rm -r evil",
    "a bare repository": "mkdir objects refs; echo 'ref: refs/heads/x' > HEAD; echo '[core] fsmonitor=x' > config",
}


@pytest.mark.parametrize("what", PLANTS)
async def test_git_runs_nothing_that_was_planted(cell: Cell, repository: Path, what: str) -> None:
    config, hooks = (repository / "config").read_text(), sorted(path.name for path in (repository / "hooks").iterdir())
    await cell.run("(" + PLANTS[what].format(evil=EVIL) + ") >/dev/null 2>&1; true")
    assert (repository / "config").read_text() == config
    assert sorted(path.name for path in (repository / "hooks").iterdir()) == hooks
    assert not (repository / "commondir").exists()
    assert not (cell.project / "HEAD").exists()
    assert (repository / "HEAD").read_text().startswith("ref: refs/heads/")


def git(*arguments: str) -> None:
    options = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always")
    subprocess.run(["git", *options, *arguments], check=True, capture_output=True)


async def test_submodules_and_linked_worktrees_run_nothing_that_was_planted(cell: Cell, repository: Path) -> None:
    source = cell.outside / "library"
    git("init", "-q", str(source))
    git("-C", str(source), "commit", "-q", "--allow-empty", "-m", "zero")
    for name in ("libs/one", "two"):
        git("-C", str(cell.project), "submodule", "add", str(source), name)
    git("-C", str(cell.project), "commit", "-qm", "submodules")
    git("-C", str(cell.project), "worktree", "add", "-q", str(cell.outside / "tree"))
    one, two, tree = (repository / name for name in ("modules/libs/one", "modules/two", "worktrees/tree"))
    for hook in (two / "hooks").iterdir():
        hook.unlink()
    (two / "hooks").rmdir()
    files = [one / "config", two / "config", tree / "commondir", tree / "gitdir"]
    before = [file.read_text() for file in files]
    script = f"""
        import os
        for folder in {[str(path) for path in (repository, one, two, tree)]!r}:
            for name in ("hooks/pre-commit", "config", "commondir", "gitdir", "config.worktree"):
                for attempt in (lambda path: os.makedirs(os.path.dirname(path)), lambda path: open(path, "a").write("x")):
                    try:
                        attempt(f"{{folder}}/{{name}}")
                    except OSError:
                        pass
        for name in ("modules", "worktrees", "modules/libs", "modules/two"):
            try:
                os.rename(f"{repository}/{{name}}", f"{repository}/gone")
            except OSError:
                print("kept", name)
    """
    text = await cell.python(script)
    assert text.splitlines()[:4] == ["kept modules", "kept worktrees", "kept modules/libs", "kept modules/two"]
    assert [file.read_text() for file in files] == before
    assert "pre-commit" not in [path.name for path in (one / "hooks").iterdir()]
    assert not (two / "hooks").exists()
    for folder in (repository, one, two):
        assert not (folder / "commondir").exists()
        assert not (folder / "config.worktree").exists()
    assert not (tree / "config.worktree").exists()


async def test_the_folder_that_the_configuration_names_for_hooks_is_not_written_to(
    cell: Cell, repository: Path
) -> None:
    (cell.project / "scripts/hooks").mkdir(parents=True)
    (cell.project / "shared.gitconfig").write_text("")
    git("-C", str(cell.project), "config", "core.hooksPath", "scripts/hooks")
    git("-C", str(cell.project), "config", "include.path", "../shared.gitconfig")
    await cell.run("(echo x > scripts/hooks/pre-commit; mv scripts s; echo x > shared.gitconfig; true) 2>/dev/null")
    assert list((cell.project / "scripts/hooks").iterdir()) == []
    assert (cell.project / "shared.gitconfig").read_text() == ""


MADE = "mkdir -p {sub} && cd {sub} && git init -q . && git config core.fsmonitor {program} && {commit} && cd {project}"
PARTS = {
    "a new part": f"{MADE} && git add sub",
    "a part that was not there yet": f"{MADE} ; true",
    "one of many that were not there yet": f"{MADE.replace('{sub}', 'sub/99')} ; true",
    "a part by its number": f"git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),sub; {MADE}",
    "a part of an index in two files": f"{MADE} && git add sub && git update-index --split-index",
    "a part of a part": f"{MADE.replace('{sub}', 'sub/deep')} && git -C sub add deep",
}


@pytest.mark.parametrize("what", PARTS)
async def test_git_at_the_top_follows_no_configuration_of_a_repository_within(
    cell: Cell, repository: Path, what: str
) -> None:
    commit = "git -c user.name=a -c user.email=a@b commit -q --allow-empty -m one"
    git("-C", str(cell.project), "commit", "-q", "--allow-empty", "-m", "zero")
    if "not there" in what:
        names = [f"sub/{number}" for number in range(100)] if "many" in what else ["sub"]
        options = [part for name in names for part in ("--cacheinfo", f"160000,{'1' * 40},{name}")]
        git("-C", str(cell.project), "update-index", "--add", *options)
    if "of a part" in what:
        git("init", "-q", str(cell.project / "sub"))
        git("-C", str(cell.project / "sub"), "commit", "-q", "--allow-empty", "-m", "zero")
        git("-C", str(cell.project), "add", "sub")
    evil = cell.project / "evil.sh"
    evil.write_text(f"#!/bin/sh\ntouch {cell.outside}/owned\n")
    evil.chmod(0o755)
    made = PARTS[what].format(sub="sub", program=evil, commit=commit, project=cell.project)
    text = await cell.run(f"({made}) >/dev/null 2>&1; git ls-files --stage sub")
    assert text.startswith("160000 ")
    git("-C", str(cell.project), "status", "--short")
    git("-C", str(cell.project), "diff")
    assert not (cell.outside / "owned").exists()


async def test_a_repository_that_no_command_made_may_become_a_part(cell: Cell, repository: Path) -> None:
    git("init", "-q", str(cell.project / "sub"))
    git("-C", str(cell.project / "sub"), "commit", "-q", "--allow-empty", "-m", "zero")
    text = await cell.run(
        "git add sub 2>/dev/null; git ls-files --stage; git -C sub config core.fsmonitor x 2>/dev/null; true"
    )
    assert text.startswith("160000 ")
    assert (cell.project / "sub/.git/HEAD").exists()
    assert "fsmonitor" not in (cell.project / "sub/.git/config").read_text()


async def test_a_command_that_goes_on_does_not_keep_what_it_planted(cell: Cell, repository: Path) -> None:
    async with cell.session() as session:
        plants = "echo ../evil > .git/commondir; touch planted; sleep 60"
        going_on = ToolUse("toolu_2", "Bash", {"command": plants, "run_in_background": True})
        (started,) = await session.run_calls([going_on])
        assert not started.is_error
        async with asyncio.timeout(20):
            while not (cell.project / "planted").exists() or (repository / "commondir").exists():  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        running = [line for line in command_lines() if b"touch planted" in line]
    assert running


async def test_what_a_configuration_names_does_not_come_to_be(cell: Cell, repository: Path) -> None:
    with (repository / "config").open("a") as config:
        config.write(
            "[core] hooksPath = made/hooks\n[include] path = ../local.gitconfig\n[include] path = ~nobody-of-this-name/x\n"
            '[includeIf "gitdir:x"]\n path = "../further.gitconfig"\n'
        )
    (cell.project / "further.gitconfig").write_text("[include]\npath = ./last.gitconfig\n")
    (cell.root / "home/.gitconfig").write_text("[core]\nhooksPath = of-person\n")
    names = "made/hooks/pre-commit of-person/pre-commit local.gitconfig last.gitconfig"
    await cell.run(
        f"for n in {names}; do mkdir -p $(dirname $n); echo x > $n; done 2>/dev/null; echo x >> further.gitconfig"
    )
    assert [name for name in names.split() if (cell.project / name).exists()] == []
    assert (cell.project / "further.gitconfig").read_text() == "[include]\npath = ./last.gitconfig\n"


async def test_a_repository_of_a_folder_above_is_led_to_nothing_in_the_project(cell: Cell) -> None:
    git("init", "-q", str(cell.root))
    git("-C", str(cell.root), "config", "core.hooksPath", "project/hooks")
    git("-C", str(cell.root), "config", "include.path", "../project/local.gitconfig")
    git("-C", str(cell.root), "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},project/part")
    names = "hooks/pre-commit local.gitconfig part/.git/config"
    await cell.run(f"for n in {names}; do mkdir -p $(dirname $n); echo x > $n; done 2>/dev/null; true")
    assert [name for name in names.split() if (cell.project / name).exists()] == []


async def test_commits_are_made_as_outside(cell: Cell, repository: Path) -> None:
    who = "git -c user.name=a -c user.email=a@b"
    text = await cell.run(
        f"echo x > f; git add f && {who} commit -qm one && git log --oneline | wc -l && git status -s"
    )
    assert text == "1"


async def test_a_linked_worktree_commits_and_plants_nothing_in_its_repository(cell: Cell) -> None:
    main, who = cell.outside / "main", ["-c", "user.name=a", "-c", "user.email=a@b"]
    for arguments in (
        ["init", "-q", str(main)],
        ["-C", str(main), *who, "commit", "-q", "--allow-empty", "-m", "zero"],
        ["-C", str(main), "worktree", "add", "-q", str(cell.project / "tree")],
    ):
        subprocess.run(["git", *arguments], check=True)  # noqa: ASYNC221 - nothing else runs
    cell.project = cell.project / "tree"
    hooks, config = sorted((main / ".git/hooks").iterdir()), (main / ".git/config").read_text()
    text = await cell.run(f"echo x > f; git add f && git {' '.join(who)} commit -qm one && git log --oneline | wc -l")
    assert text == "2"
    evil = cell.project / "evil"
    await cell.run(
        f"g={main}/.git; (echo x > $g/hooks/pre-commit; git config core.fsmonitor x; mv $g/worktrees/tree $g/t; "
        f"echo {evil} > $g/worktrees/tree/commondir; mv $g/worktrees $g/w; mv $g/hooks $g/h; "
        f"echo {evil} > $g/commondir; echo x > {main}/f) 2>/dev/null; true"
    )
    assert (sorted((main / ".git/hooks").iterdir()), (main / ".git/config").read_text()) == (hooks, config)
    assert (main / ".git/worktrees/tree/commondir").read_text() == "../..\n"
    assert not (main / ".git/commondir").exists()
    assert not (main / "f").exists()


async def test_a_pointer_to_a_repository_that_does_not_know_it_opens_nothing(cell: Cell) -> None:
    own = cell.outside / "worktrees/tree"
    own.mkdir(parents=True)
    (own / "gitdir").write_text(str(cell.root / "elsewhere/.git"))
    (own / "commondir").write_text("../..")
    (cell.outside / "config").write_text("")
    (cell.project / ".git").write_text(f"gitdir: {own}")
    before = cell.state()
    await cell.run(f"(echo x > {cell.outside}/kept.txt; echo x > {cell.outside}/new) 2>/dev/null; true")
    assert cell.state() == before


async def test_toolpost_itself_is_not_changed_where_it_is_installed_in_the_project(
    cell: Cell, monkeypatch: pytest.MonkeyPatch
) -> None:
    packages = cell.project / ".venv/lib/python3/site-packages"
    (packages / "toolpost").mkdir(parents=True)
    monkeypatch.setattr(sys, "path", [*sys.path, str(packages)])
    await cell.run(
        f"(echo evil > {packages}/toolpost/__init__.py; echo evil > {packages}/x.pth; mv .venv v) 2>/dev/null; true"
    )
    assert [path.name for path in packages.rglob("*")] == ["toolpost"]


NEVER_MADE = (".git", ".claude", ".toolpost", ".mcp.json")


async def test_what_steers_the_agent_is_not_planted_where_it_is_not_there_yet(cell: Cell) -> None:
    names = " ".join(NEVER_MADE)
    await cell.run(
        f"for n in {names}; do mkdir -p $n/hooks; echo x > $n/settings.json; echo x > $n; rm -rf $n; mv $n m; "
        "mkdir m && mv -T m $n; done >/dev/null 2>&1; git init >/dev/null 2>&1; rm -rf m; true"
    )
    assert list(cell.project.iterdir()) == []


async def test_what_steers_the_agent_is_not_changed_where_it_is(cell: Cell) -> None:
    deep = cell.project / "packages/app/.claude"
    for folder in (cell.project / ".claude", deep):
        folder.mkdir(parents=True)
        (folder / "settings.json").write_text("{}")
    await cell.run(
        "for d in . packages/app; do echo x > $d/.claude/settings.json; rm -rf $d/.claude; mv $d/.claude $d/gone; "
        "mkdir $d/.claude; done >/dev/null 2>&1; mv packages away 2>/dev/null; mkdir -p packages/app/.claude; true"
    )
    assert (cell.project / ".claude/settings.json").read_text() == "{}"
    assert (deep / "settings.json").read_text() == "{}"


async def test_commands_beside_one_another_keep_each_others_protection(cell: Cell) -> None:
    async with cell.session() as session:
        waits = "touch started; while [ ! -e go ]; do sleep 0.05; done; mkdir .claude && echo PLANTED; rm -f started go"
        first = asyncio.create_task(call(session, waits))
        await call(session, "while [ ! -e started ]; do sleep 0.05; done")
        (cell.project / "go").touch()
        assert "PLANTED" not in await first
    assert list(cell.project.iterdir()) == []


def command_lines() -> Iterator[bytes]:
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            yield file.read_bytes()


def open_descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


async def test_nothing_outlives_a_command_that_is_ended(cell: Cell) -> None:
    left = "setsid -f sleep 98761; (trap '' TERM INT HUP; sleep 98762) & env -i setsid -f /bin/sleep 98763; sleep 98764"
    async with cell.session() as session:
        (result,) = await session.run_calls([ToolUse("toolu_1", "Bash", {"command": left, "timeout": 1_500})])
        assert "timed out" in str(result.block["content"])
        running = list(command_lines())
    assert [line for line in running if line.startswith(b"sleep\x009876") or b"/sleep\x009876" in line] == []


async def test_a_session_leaves_no_descriptor_and_no_file_behind(cell: Cell) -> None:
    (cell.project / "packages/app/.claude").mkdir(parents=True)
    cell.network = {"allowedDomains": ["a.example"]}
    before, shown = open_descriptors(), sorted(cell.root.rglob("*"))
    async with cell.session() as session:
        await call(session, "true")
        first = open_descriptors()
        for _ in range(5):
            await call(session, "true")
        assert open_descriptors() == first
    await asyncio.sleep(0)
    assert open_descriptors() <= before + 1
    assert [path for path in sorted(cell.root.rglob("*")) if cell.root / "home" not in path.parents] == [
        path for path in shown if cell.root / "home" not in path.parents
    ]
