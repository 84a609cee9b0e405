from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

WITNESS = """
    from toolpost import on, tool


    @tool
    async def shout(text: str) -> str:
        "Say it loudly."
        return text.upper()


    @on.stop
    def look(event):
        return None


    open({file!r}, "w").close()
"""


@pytest.fixture
def shouting(toolpost: Any) -> Any:
    toolpost.install("acme-shout", "tools", "shout", WITNESS.format(file=str(toolpost.project / "ran")))
    return toolpost


@pytest.mark.parametrize(
    ("flag", "file"),
    [
        ((), "config/settings.json"),
        (("--user",), "config/settings.json"),
        (("--project",), "project/.toolpost/settings.json"),
        (("--local",), "project/.toolpost/settings.local.json"),
    ],
)
def test_the_file_that_was_asked_for_is_written_and_named(shouting: Any, flag: tuple[str, ...], file: str) -> None:
    written = shouting.project.parent / file
    done = shouting("plugins", "enable", "shout", *flag, "--trust")
    assert (done.returncode, f"turned on in {written}." in done.stdout) == (0, True), done.stderr
    assert json.loads(written.read_text(encoding="utf-8")) == {"plugins": {"shout": True}}
    assert shouting("plugins", "disable", "shout", *flag).returncode == 0
    assert json.loads(written.read_text(encoding="utf-8")) == {"plugins": {"shout": False}}


def test_what_it_would_be_given_is_shown_without_running_it(shouting: Any) -> None:
    done = shouting("plugins", "enable", "shout")
    assert "tools for the model: shout" in done.stdout
    assert "hears: stop" in done.stdout
    assert "it does not say what it needs" in done.stdout
    assert not (shouting.project / "ran").exists()


@pytest.mark.parametrize(("answer", "is_on"), [(b"y\n", True), (b"n\n", False), (b"\n", False)])
def test_in_a_terminal_a_yes_is_asked_for(shouting: Any, answer: bytes, is_on: bool) -> None:
    code, shown = in_terminal(shouting, answer, "plugins", "enable", "shout")
    assert "Turn it on?" in shown
    assert (code == 0, (shouting.config / "settings.json").exists()) == (is_on, is_on)


def test_yes_asks_nothing(shouting: Any) -> None:
    code, shown = in_terminal(shouting, b"", "plugins", "enable", "shout", "--yes")
    assert (code, "Turn it on?" in shown) == (0, False)


def test_an_unknown_name_is_refused_with_near_ones_and_nothing_is_written(shouting: Any) -> None:
    for command in ("enable", "disable", "info"):
        done = shouting("plugins", command, "acme-shuot")
        assert (done.returncode != 0, done.stdout) == (True, "")
        assert "No plugin 'acme-shuot' is installed. Did you mean acme-shout" in done.stderr
    assert not (shouting.config / "settings.json").exists()


def test_several_are_switched_at_once_or_none(shouting: Any) -> None:
    shouting.install("acme-other", "tools", "other", "other = 1\n")
    file = shouting.config / "settings.json"
    assert shouting("plugins", "enable", "shout", "acme-nowhere").returncode != 0
    assert not file.exists()
    done = shouting("plugins", "enable", "shout", "acme-other")
    assert (done.returncode, "acme-other) turned on in" in done.stdout) == (0, True), done.stderr
    assert json.loads(file.read_text(encoding="utf-8")) == {"plugins": {"shout": True, "acme-other": True}}
    found = shouting.json("plugins", "disable", "shout", "acme-other", "--json")
    assert [row["name"] for row in found["plugins"]] == ["shout", "other"]
    assert json.loads(file.read_text(encoding="utf-8")) == {"plugins": {"shout": False, "acme-other": False}}


def test_a_switch_that_does_not_count_says_so(shouting: Any) -> None:
    done = shouting("plugins", "enable", "shout", "--project")
    assert "shout (tools) is still off by default" in done.stdout
    assert "counts in a trusted workspace only" in done.stdout
    found = shouting.json("plugins", "enable", "shout", "--project", "--json")
    assert [row["state"] for row in found["not_in_force"]] == ["off by default"]
    assert found["plugins"][0]["tools"] == ["shout"]


def test_config_beside_the_switch_is_kept(shouting: Any) -> None:
    file: Path = shouting.settings({"plugins": {"Shout": {"enabled": False, "grant": ["decide"]}}, "model": "m"})
    shouting("plugins", "enable", "shout")
    kept = json.loads(file.read_text(encoding="utf-8"))
    assert kept == {"plugins": {"Shout": {"enabled": True, "grant": ["decide"]}}, "model": "m"}


def in_terminal(toolpost: Any, typed: bytes, *arguments: str) -> tuple[int, str]:
    """Run a command with a terminal of its own; return its exit code and what the terminal showed."""
    ours, theirs = os.openpty()
    process = subprocess.Popen(
        toolpost.command(*arguments), stdin=theirs, stdout=theirs, stderr=theirs, cwd=toolpost.project, env=toolpost.env
    )
    os.close(theirs)
    os.write(ours, typed)
    shown = b""
    while part := _read(ours):
        shown += part
    os.close(ours)
    return process.wait(timeout=60), shown.decode()


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 4096)
    except OSError:  # Linux tells the end of a terminal as EIO
        return b""


def test_what_is_left_of_a_plugin_that_is_not_installed_any_more_is_taken_out(toolpost: Any) -> None:
    file = toolpost.settings({"plugins": {"acme-gone": True, "other": False}, "model": "m"})
    done = toolpost("plugins", "disable", "acme_gone")
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"acme_gone is not installed; its entry was removed from {file}.\n"
    assert json.loads(file.read_text(encoding="utf-8")) == {"plugins": {"other": False}, "model": "m"}


def test_a_name_that_nobody_knows_changes_nothing(toolpost: Any) -> None:
    file = toolpost.settings({"plugins": {"acme-gone": True}})
    before = file.read_text(encoding="utf-8")
    done = toolpost("plugins", "disable", "acme-gone", "acme-never")
    assert (done.returncode, "No plugin 'acme-never' is installed" in done.stderr) == (1, True)
    assert file.read_text(encoding="utf-8") == before
