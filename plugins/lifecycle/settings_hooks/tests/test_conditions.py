from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from toolpost_lifecycle_settings_hooks.conditions import applies

PLACES = {"cwd": Path("/srv/app"), "project": Path("/srv"), "home": Path("/home/ada")}


def met(condition: Any, tool: str, **tool_input: Any) -> bool:
    return applies(condition, tool, tool_input, **PLACES)


@pytest.mark.parametrize(
    ("condition", "command", "expected"),
    [
        ("Bash", "ls", True),
        ("Bash(*)", "ls", True),
        ("Bash(git push:*)", "git push origin", True),
        ("Bash(git push:*)", "git push", True),
        ("Bash(git push:*)", "git pushover", False),
        ("Bash(git *)", "git status", True),
        ("Bash(git *)", "git", True),
        ("Bash(ls)", "ls -l", False),
        ("Bash(npm run *:fix)", "npm run lint:fix", True),
        ("Bash(git push:*)", "cd x && git push", True),
        ("Bash(git push:*)", "ls; GIT_SSH=x git push", True),
        ("Bash(git push:*)", "ls | git push", True),
        ("Bash(git push:*)", "ls\ngit push", True),
        ("Bash(git push:*)", "echo 'git push'", False),
        ("Bash(git push:*)", "if true; then git push; fi", True),
        ("Bash(git push:*)", "for i in 1 2; do A=1 git push; done", True),
        ("Bash(git push:*)", "! time git push", True),
        ("Bash(git push:*)", "sudo -u root git push", True),
        ("Bash(git push:*)", "/usr/bin/env A=1 git push origin", True),
        ("Bash(git push:*)", "timeout 5 git pull", False),
        ("Bash(git push:*)", "sh -c 'cd x && git push'", True),
        ("Bash(git push:*)", "sh -c 'cd x && git pull'", False),
        ("Bash(git push:*)", "xargs git push < remotes", True),
        ("Bash(git push:*)", "echo && ls", False),
        ("Bash(git push:*)", "echo $(git push)", True),
        ("Bash(git push:*)", "$X", True),
        ("Bash(git push:*)", "echo 'unclosed", True),
        ("Read", "ls", False),
        ("no ( rule", "ls", True),
        (7, "ls", True),
    ],
)
def test_a_condition_holds_a_command_against_its_rule(condition: Any, command: str, expected: bool) -> None:
    assert met(condition, "Bash", command=command) is expected


@pytest.mark.parametrize(
    ("specifier", "path", "expected"),
    [
        ("*.py", "/srv/app/src/a.py", True),
        ("*.py", "/srv/app/a.pyc", False),
        ("src/**", "/srv/app/src/deep/a.py", True),
        ("./src/*.py", "/srv/app/src/a.py", True),
        ("src/*.py", "/srv/app/src/deep/a.py", False),
        ("src", "/srv/app/src/a.py", True),
        ("/docs/**", "/srv/docs/a.md", True),
        ("//etc/**", "/etc/passwd", True),
        ("~/.ssh/**", "/home/ada/.ssh/id", True),
        ("src/**", "/srv/app/src/../secret", False),
        ("src/**", "src/a.py", True),
    ],
)
def test_a_condition_holds_a_path_against_its_rule(specifier: str, path: str, expected: bool) -> None:
    assert met(f"Edit({specifier})", "Edit", file_path=path) is expected
    assert met(f"Edit({specifier})", "Write", file_path=path) is expected


@pytest.mark.parametrize(
    ("specifier", "command", "expected"),
    [
        ("*", "anything at all", True),
        ("git*", "gitk", True),
        ("git * main", "git push main", True),
        ("git * main", "git main", False),
        ("*rm*", "sudo rm x", True),
        ("a*a", "a", False),
        ("* --force", "git push --force", True),
        ("* --force *", "git push --force now", True),
        ("* --force *", "git push --force", True),
        ("* --force *", "git push", False),
    ],
)
def test_a_star_stands_for_anything(specifier: str, command: str, expected: bool) -> None:
    assert met(f"Bash({specifier})", "Bash", command=command) is expected


def test_a_long_command_is_held_against_many_stars_at_once() -> None:
    began = time.perf_counter()
    assert not met("Bash(*a*a*a*a*a*b)", "Bash", command="a " * 20_000)
    assert time.perf_counter() - began < 2


def test_a_domain_takes_its_subdomains() -> None:
    assert met("WebFetch(domain:example.com)", "WebFetch", url="https://docs.example.com/x")
    assert not met("WebFetch(domain:example.com)", "WebFetch", url="https://badexample.com/")


def test_a_server_takes_all_its_tools() -> None:
    assert met("mcp__github", "mcp__github__push")
    assert met("mcp__github__*", "mcp__github__push")
    assert not met("mcp__git", "mcp__github__push")
    assert met("mcp__github__push", "mcp__github__push")


def test_a_specifier_of_an_unknown_kind_counts_as_met() -> None:
    assert met("Agent(explore)", "Agent", prompt="x")
