from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path

import pytest
from fake_site import Site

from toolpost_core.plugins import capabilities
from toolpost_core.plugins.groups import KINDS as GROUPS
from toolpost_core.plugins.scaffold import KINDS, Author, names_for, render

UNFINISHED = re.compile(r"TODO|FIXME|XXX|[^$]\$\{(?!\{)|(?i:replace me|change this|your )|[ \t]$", re.MULTILINE)
every_kind = pytest.mark.parametrize("kind", KINDS)


def run(*command: str, cwd: Path, **env: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=cwd,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **env},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_new_projects_pass_their_own_tests(projects: Mapping[str, Path]) -> None:
    path = os.pathsep.join(str(project / "src") for project in projects.values())
    base = next(iter(projects.values())).parent
    without = ("-p", "no:asyncio", "-p", "no:cacheprovider")
    run("pytest", "-q", "-W", "error", *without, "--import-mode=importlib", ".", cwd=base, PYTHONPATH=path)


@pytest.mark.parametrize(
    "command",
    [
        ("check", "--select=E,F,W,I,B,UP,SIM,PT,RET,TID,N,C4,PERF"),
        ("check", "--select=D1", "--ignore=D107", "--exclude=tests"),
        ("format", "--check"),
    ],
    ids=lambda command: command[1],
)
def test_ruff_has_nothing_to_say_of_the_new_projects(projects: Mapping[str, Path], command: tuple[str, ...]) -> None:
    base = next(iter(projects.values())).parent
    run("ruff", *command, "--isolated", "--no-cache", "--config", 'src = ["*/src"]', ".", cwd=base)


def test_mypy_in_strict_mode_takes_every_new_project(projects: Mapping[str, Path], tmp_path: Path) -> None:
    packages = [str(package) for project in projects.values() for package in (project / "src").iterdir()]
    path = os.pathsep.join(str(project / "src") for project in projects.values())
    run("mypy", "--strict", "--config-file=", f"--cache-dir={tmp_path}", *packages, cwd=tmp_path, MYPYPATH=path)


@every_kind
def test_what_a_new_plugin_declares_can_be_read(projects: Mapping[str, Path], kind: str) -> None:
    file = projects[kind] / f"src/acme_{kind.replace('-', '_')}" / capabilities.FILE
    declared = capabilities.parse(file.read_text(encoding="utf-8"), str(file))
    assert (declared.mistake, declared.file) == ("", str(file))


@every_kind
def test_nothing_in_a_new_project_waits_to_be_filled_in(projects: Mapping[str, Path], kind: str) -> None:
    for file in (file for file in projects[kind].rglob("*") if file.is_file() and file.name != "LICENSE"):
        text = file.read_text(encoding="utf-8")
        assert UNFINISHED.findall(text) == [], file
        assert not text.startswith("\n"), file
        assert "\n\n\n\n" not in text, file
        assert text == "" or (text.endswith("\n") and not text.endswith("\n\n")), file


def test_there_is_a_kind_for_every_group() -> None:
    assert {kind.group for kind in KINDS.values()} == set(GROUPS)


def test_the_licence_is_the_one_that_was_chosen() -> None:
    root = Path(__file__).parents[4]
    names = names_for("acme-sql", "tools")
    apache = render("tool", names)
    assert apache["LICENSE"] == (root / "LICENSE").read_text(encoding="utf-8")
    assert tomllib.loads(apache["pyproject.toml"])["project"]["license"] == "Apache-2.0"

    mit = render("tool", names, license="MIT", author=Author("Ann Author"))
    assert re.search(r"^Copyright \(c\) 20\d\d Ann Author$", mit["LICENSE"], re.M)
    assert tomllib.loads(mit["pyproject.toml"])["project"]["license"] == "MIT"

    none = render("tool", names, license="none")
    assert "LICENSE" not in none
    assert "license" not in tomllib.loads(none["pyproject.toml"])["project"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ann Author <ann@example.com>", [{"name": "Ann Author", "email": "ann@example.com"}]),
        ('Ann "The Lathe" O\\Author', [{"name": 'Ann "The Lathe" O\\Author'}]),
        ("${name} Müller", [{"name": "${name} Müller"}]),
        ("<ann@example.com>", [{"email": "ann@example.com"}]),
    ],
)
def test_the_author_stands_in_the_metadata_as_given(text: str, expected: object) -> None:
    texts = render("tool", names_for("acme-sql", "tools"), license="MIT", author=Author.parse(text))
    assert tomllib.loads(texts["pyproject.toml"])["project"]["authors"] == expected


def test_the_core_takes_every_new_plugin_once_it_is_turned_on(projects: Mapping[str, Path], tmp_path: Path) -> None:
    home = tmp_path.resolve() / "home"
    site = Site(home / "site")
    for kind, folder in projects.items():
        project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        entries = {group.removeprefix("toolpost."): points for group, points in project["entry-points"].items()}
        site.install(f"acme-{kind}", entries=entries, requires=project["dependencies"])
    config = home / ".toolpost"
    config.mkdir()
    settings = {"plugins": {f"acme-{kind}": True for kind in projects}}
    (config / "settings.json").write_text(json.dumps(settings), encoding="utf-8")
    path = os.pathsep.join([str(site.folder), *(str(project / "src") for project in projects.values())])
    env = {"HOME": str(home), "TOOLPOST_CONFIG_DIR": str(config), "PYTHONPATH": path}

    assert "no problems" in run("toolpost_core", "plugins", "doctor", cwd=home, **env)
    listed = json.loads(run("toolpost_core", "plugins", "list", "--json", cwd=home, **env))
    states = {row["distribution"]: row["state"] for row in listed}
    assert {f"acme-{kind}": "on" for kind in projects}.items() <= states.items()
