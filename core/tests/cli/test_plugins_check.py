from __future__ import annotations

import json
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

TEST = """
    from __future__ import annotations

    from acme_echo_words import echo_words
    from toolpost.testing import ToolContract


    class TestEcho(ToolContract):
        tool = echo_words
        example = {"text": "one"}


    def test_of_the_authors_own() -> None:
        assert echo_words.name == "echo_words"
"""
MODULE = """
    from toolpost import tool


    @tool(read_only=True, destructive={destructive})
    async def echo_words(text: str) -> str:
        "Say words again."
        return text or "nothing"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A plugin that is not installed."""
    place = tmp_path / "acme"
    (place / "src").mkdir(parents=True)
    (place / "tests").mkdir()
    (place / "src" / "acme_echo_words.py").write_text(dedent(MODULE.format(destructive=False)), encoding="utf-8")
    (place / "tests" / "test_contract.py").write_text(dedent(TEST), encoding="utf-8")
    return place


def test_each_rule_of_the_kit_is_told_for_a_folder_that_is_not_installed(toolpost: Any, folder: Path) -> None:
    found = toolpost.json("plugins", "check", str(folder), "--json")
    assert found["passed"], [rule for rule in found["rules"] if rule["outcome"] == "failed"]
    rules = {rule["rule"] for rule in found["rules"]}
    assert {"its input schema is valid", "its flags agree with each other"} <= rules
    assert {rule["kit"] for rule in found["rules"]} == {"ToolContract"}
    assert not list(folder.rglob(".pytest_cache"))
    every = toolpost.json("plugins", "check", str(folder), "--all", "--json")
    assert len(every["rules"]) == len(found["rules"]) + 1


def test_a_broken_rule_is_told_with_what_happened_and_how_to_mend_it(toolpost: Any, folder: Path) -> None:
    (folder / "src" / "acme_echo_words.py").write_text(dedent(MODULE.format(destructive=True)), encoding="utf-8")
    done = toolpost("plugins", "check", str(folder), "--json")
    broken = [rule for rule in json.loads(done.stdout)["rules"] if rule["outcome"] == "failed"]
    assert (done.returncode, [rule["rule"] for rule in broken]) == (1, ["its flags agree with each other"])
    assert broken[0]["why"]
    shown = toolpost("plugins", "check", str(folder)).stdout
    assert "test_contract.py::TestEcho (ToolContract)\n" in shown
    assert "FAIL its flags agree with each other" in shown
    assert "to mend it:" in shown
    assert "1 broken." in shown


def test_tests_that_can_not_be_collected_are_told(toolpost: Any, folder: Path) -> None:
    (folder / "tests" / "test_contract.py").write_text("import no_such_module_here\n", encoding="utf-8")
    done = toolpost("plugins", "check", str(folder))
    assert (done.returncode, "FAIL its tests can be collected" in done.stdout) == (1, True)
    assert "no_such_module_here" in done.stdout


def test_a_folder_without_a_kit_or_that_is_not_there_is_refused_in_one_line(toolpost: Any, folder: Path) -> None:
    (folder / "tests" / "test_contract.py").write_text("def test_nothing() -> None: ...\n", encoding="utf-8")
    done = toolpost("plugins", "check", str(folder))
    assert (done.returncode != 0, "has no test of a contract kit" in done.stderr) == (True, True)
    missing = toolpost("plugins", "check", str(folder / "nowhere"))
    assert (missing.returncode != 0, "is not a folder" in missing.stderr) == (True, True)


def test_without_pytest_it_says_what_to_install(toolpost: Any, folder: Path) -> None:
    done = toolpost.without_plugins()("plugins", "check", str(folder))
    assert (done.returncode != 0, 'pip install "toolpost-hookspecs[testing]"' in done.stderr) == (True, True)
