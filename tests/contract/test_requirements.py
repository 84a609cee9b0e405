"""Every requirement is claimed by a test, and every claim is of a requirement."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from tests.contract.requirements import REQUIREMENTS, UNCLAIMED

ROOT = Path(__file__).parents[2]
FOLDERS = ("hookspecs/tests", "core/tests", "tests", "builtin_tools/*/tests", "plugins/*/*/tests")
IDS = [requirement.id for requirement in REQUIREMENTS]


def test_every_requirement_has_an_id_of_its_own() -> None:
    assert sorted(IDS) == sorted(set(IDS))


def test_every_requirement_is_claimed_by_a_test_or_stands_among_the_unclaimed() -> None:
    claimed = {name for _, name in claims()}
    assert sorted(set(IDS) - claimed - UNCLAIMED) == []


def test_what_a_test_claims_is_a_requirement() -> None:
    assert [f"{where}: {name!r}" for where, name in claims() if name not in IDS] == []


def test_the_unclaimed_are_requirements_that_no_test_claims() -> None:
    claimed = {name for _, name in claims()}
    assert sorted(UNCLAIMED & claimed) == [], "a test claims these now: take them out of UNCLAIMED"
    assert sorted(UNCLAIMED - set(IDS)) == []


@cache
def claims() -> Sequence[tuple[str, str]]:
    """Return (file and line, id) of each `pytest.mark.requirement("id")`."""
    return tuple(_claims())


def _claims() -> Iterator[tuple[str, str]]:
    for file in sorted(file for folder in FOLDERS for file in ROOT.glob(f"{folder}/**/*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "requirement":
                for argument in node.args:
                    where = f"{file.relative_to(ROOT)}:{node.lineno}"
                    assert isinstance(argument, ast.Constant), f"{where}: write the id as a string"
                    yield where, str(argument.value)
