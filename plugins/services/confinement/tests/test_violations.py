from __future__ import annotations

import pytest

from toolpost import Violation
from toolpost_service_confinement.violations import MOST, not_ignored, refused_writes


@pytest.mark.parametrize(
    ("line", "path"),
    [
        ("touch: cannot touch '/etc/x': Read-only file system", "/etc/x"),
        ("mkdir: cannot create directory \u2018/opt/a b\u2019: Read-only file system", "/opt/a b"),
        ("bash: line 1: /etc/x: Read-only file system", "/etc/x"),
        ("OSError: [Errno 30] Read-only file system: '/etc/x'", "/etc/x"),
        ("Error: EROFS: read-only file system, open '/etc/x'", "/etc/x"),
        ("open /etc/x: read-only file system", "/etc/x"),
        ("cp: cannot create regular file '../x': Read-only file system", "../x"),
    ],
)
def test_the_path_is_found_in_what_programs_say(line: str, path: str) -> None:
    assert [violation.target for violation in refused_writes(f"before\n{line}\nafter")] == [path]


def test_of_many_lines_the_first_are_told() -> None:
    assert len(list(refused_writes("open /x: read-only file system\n" * 1000))) == MOST


def test_other_failures_are_none() -> None:
    assert list(refused_writes("cat: /etc/shadow: Permission denied\nRead-only file system")) == []


def test_what_is_ignored_is_so_for_its_commands() -> None:
    found = [Violation("write", "/home/a/.npm/x"), Violation("connect", "telemetry.example:443")]
    ignored = {"npm ": [".npm/"], "*": ["telemetry."], "bad": "no list"}
    assert list(not_ignored(found, "npm ci", ignored)) == []
    assert list(not_ignored(found, "make", ignored)) == found[:1]
    assert list(not_ignored([*found, *found], "make", None)) == found


def test_of_very_many_the_first_are_told_and_how_many_more_there_were() -> None:
    found = [Violation("connect", f"{number}.example:80") for number in range(MOST + 30)]
    told = not_ignored([*found, *found], "curl", None)
    assert list(told[:MOST]) == found[:MOST]
    assert [str(one) for one in told[MOST:]] == ["other and 30 more"]
    assert list(not_ignored(found[:MOST], "curl", None)) == found[:MOST]
