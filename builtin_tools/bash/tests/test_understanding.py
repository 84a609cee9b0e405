from __future__ import annotations

import json
from pathlib import Path

import pytest

from toolpost_tool_bash.matcher import BashMatcher, understand

HERE = Path(__file__).parent
HIDDEN = json.loads((HERE / "hidden_commands.json").read_text("utf-8"))
PLAIN = json.loads((HERE / "plain_commands.json").read_text("utf-8"))


def read(line: str, folder: Path) -> BashMatcher:
    return understand(line, cwd=folder, home=folder / "home")


def hits(line: str, folder: Path, specifier: str, behavior: str) -> bool:
    matcher = read(line, folder)
    return any(matcher.matches(part, specifier, behavior) for part in matcher.parts)  # type: ignore[arg-type]


@pytest.mark.parametrize("line", HIDDEN["lines"])
def test_a_deny_rule_finds_the_program_wherever_it_would_run(line: str, tmp_path: Path) -> None:
    assert hits(line, tmp_path, "rm:*", "deny")


@pytest.mark.parametrize("line", HIDDEN["only_ask"])
def test_what_only_running_could_tell_is_at_least_asked_about(line: str, tmp_path: Path) -> None:
    matcher = read(line, tmp_path)
    asked = any(matcher.matches(part, "rm:*", "ask") for part in matcher.parts)
    assert asked or (matcher.doubt and not matcher.read_only)


@pytest.mark.parametrize("line", [*HIDDEN["lines"], *HIDDEN["only_ask"]])
def test_nothing_that_hides_a_program_is_read_only(line: str, tmp_path: Path) -> None:
    assert not read(line, tmp_path).read_only


@pytest.mark.parametrize("line", PLAIN["read_only"])
def test_plainly_safe_lines_are_read_only(line: str, tmp_path: Path) -> None:
    matcher = read(line, tmp_path)
    assert matcher.read_only, (matcher.doubt, [(part.text, part.doubt) for part in matcher.parts])


@pytest.mark.parametrize("line", PLAIN["not_read_only"])
def test_lines_that_write_run_or_can_not_be_judged_are_not_read_only(line: str, tmp_path: Path) -> None:
    assert not read(line, tmp_path).read_only


@pytest.mark.parametrize(
    "line", ["echo 'rm x'", "grep rm a", "git log --grep='rm x'", "ls # rm x", "cat <<'E'\nrm x\nE", "git rm x"]
)
def test_text_is_no_program(line: str, tmp_path: Path) -> None:
    assert not hits(line, tmp_path, "rm:*", "ask")


@pytest.mark.parametrize(
    ("specifier", "line", "fits"),
    [
        ("npm run build", "npm run build", True),
        ("npm run build", "npm  run 'build'", True),
        ("npm run build", "npm run build --x", False),
        ("npm run *", "npm run", True),
        ("npm run:*", "npm run test -- --watch", True),
        ("npm run *", "npm runx", False),
        ("ls*", "lsof -i", True),
        ("git * main", "git checkout main", True),
        ("git * main", "git log; echo main", False),
        ("* --version", "node --version", True),
        ("npm test *", "NODE_ENV=test npm test", True),
        ("npm test *", "PATH=. npm test", False),
        ("npm test *", "timeout 5 nice npm test", True),
        ("npm test *", "sudo npm test", False),
        ("find:*", "find . -exec ls {} ;", False),
        ("watch *", "watch ls", False),
        ("watch ls", "watch ls", True),
        ("bash:*", "bash -c 'ls; pwd'", True),
        ("* --version", "bash -c 'x' --version", False),
    ],
)
def test_an_allow_rule_is_held_against_the_arguments(specifier: str, line: str, fits: bool, tmp_path: Path) -> None:
    matcher = read(line, tmp_path)
    assert all(matcher.matches(part, specifier, "allow") for part in matcher.parts) is fits


def test_paths_are_followed_through_cd_quotes_and_variables(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / ".env").touch()
    parts = read('cd src && cat ../"."env "$PWD/x" ~/y', tmp_path).parts
    assert [str(path) for path in parts[1].reads] == [
        f"{tmp_path}/src/../.env",
        f"{tmp_path}/src/x",
        f"{tmp_path}/home/y",
    ]
    assert tmp_path / ".env" in read("cat .en?", tmp_path).parts[0].reads


def test_redirections_are_parts_of_their_own(tmp_path: Path) -> None:
    parts = read("python3 gen.py > out.txt 2>/dev/null", tmp_path).parts
    assert [part.writes for part in parts] == [(tmp_path / "out.txt",), ()]


def test_after_a_cd_that_may_fail_both_folders_count(tmp_path: Path) -> None:
    assert set(read("cd sub; cat a", tmp_path).parts[1].reads) == {tmp_path / "a", tmp_path / "sub" / "a"}


@pytest.mark.parametrize(
    "line",
    ["echo 'a", "if then", "echo \x00", "echo a\rb", "echo " + "x" * 10_001, "ls; " * 51 + "ls", "$((", "((", "`"],
)
def test_what_can_not_be_read_is_doubted(line: str, tmp_path: Path) -> None:
    matcher = read(line, tmp_path)
    assert matcher.doubt
    assert not matcher.read_only


def test_the_first_lines_of_a_broken_text_still_count(tmp_path: Path) -> None:
    assert hits("rm x\nif then", tmp_path, "rm:*", "deny")


def test_a_repository_that_names_programs_is_not_asked_for_its_status(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    config = tmp_path / ".git" / "config"
    config.write_text("[core]\n\tbare = false\n")
    assert read("git status", tmp_path).read_only
    config.write_text("[core]\n\tfsmonitor = ./x\n")
    assert not read("git status", tmp_path).read_only


@pytest.mark.parametrize(
    "line",
    [
        "$(" * 500,
        "{" * 3000,
        "((" * 200,
        "a=(" * 100,
        "${a:-" * 500,
        "\\",
        "<<",
        "echo {a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}",
    ],
)
def test_odd_and_deep_lines_end_in_bounded_time(line: str, tmp_path: Path) -> None:
    read(line, tmp_path)
