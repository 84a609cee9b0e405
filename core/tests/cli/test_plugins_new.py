from __future__ import annotations

import json
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest


def files(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def test_it_says_what_it_wrote_and_what_to_do_next(toolpost: Any) -> None:
    done = toolpost("plugins", "new", "acme-sql", "--kind", "tool", "--author", "Ann Author <ann@example.com>")
    assert (done.returncode, done.stderr) == (0, "")
    head, *lines = done.stdout.splitlines()
    assert head == f"Wrote acme-sql, a plugin of the kind tool, to {toolpost.project / 'acme-sql'}:"
    written, steps = lines[: lines.index("Next:")], lines[lines.index("Next:") + 1 :]
    assert [line.strip() for line in written] == sorted(files(toolpost.project / "acme-sql"))
    assert [step.split()[0] for step in steps] == ["install", "enable", "test"]
    assert "'./acme-sql[testing]'" in steps[0]
    assert steps[1].endswith("toolpost plugins enable acme-sql")


def test_the_test_command_works_as_it_stands(toolpost: Any) -> None:
    made = toolpost.json("plugins", "new", "acme-sql", "--kind", "tool", "--dir", "a folder", "--json")
    assert made["folder"] == str(toolpost.project / "a folder")
    assert (made["distribution"], made["package"], made["kind"]) == ("acme-sql", "acme_sql", "tool")
    source = str(toolpost.project / "a folder" / "src")
    done = subprocess.run(
        [*shlex.split(made["next"]["test"]), "-q", "-p", "no:cacheprovider"],
        cwd=toolpost.project,
        env={**toolpost.env, "PYTHONPATH": source},
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_folder_that_is_not_empty_is_refused_and_left_as_it_was(toolpost: Any) -> None:
    assert toolpost("plugins", "new", "acme-sql", "--kind", "tool").returncode == 0
    before = files(toolpost.project)
    again = toolpost("plugins", "new", "acme-sql", "--kind", "provider")
    assert (again.returncode, "is not empty" in again.stderr) == (1, True)
    assert files(toolpost.project) == before


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("json", "--kind", "tool"), "Python's standard library"),
        (("acme sql", "--kind", "tool"), "can't be the name of a distribution"),
        (("acme-sql", "--kind", "toolz"), "'toolz' is not one of 'tool', 'family', 'lifecycle'"),
        (("acme-sql",), "Missing option '--kind'"),
        (("acme-sql", "--kind", "tool", "--license", "GPL"), "'GPL' is not one of 'apache-2.0', 'mit', 'none'"),
        (("acme-sql", "--kind", "tool", "--author", "a\nb"), "can't be an author"),
    ],
)
def test_bad_usage_writes_nothing_and_exits_with_2(toolpost: Any, arguments: tuple[str, ...], said: str) -> None:
    done = toolpost("plugins", "new", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert list(toolpost.project.iterdir()) == []


def test_what_settings_say_does_not_matter(toolpost: Any) -> None:
    (toolpost.config / "settings.json").write_text(json.dumps({"plugins": 3}), encoding="utf-8")
    assert toolpost("plugins", "new", "acme-sql", "--kind", "tool", "--dir", ".").returncode == 0
    assert "pyproject.toml" in files(toolpost.project)


@pytest.mark.parametrize(
    ("given", "kind"), [("hook_runner", "hook-runner"), ("hook_runners", "hook-runner"), ("tools", "tool")]
)
def test_a_kind_may_be_named_as_the_list_of_plugins_names_it(toolpost: Any, given: str, kind: str) -> None:
    assert toolpost.json("plugins", "new", "acme-x", "--kind", given, "--json")["kind"] == kind
