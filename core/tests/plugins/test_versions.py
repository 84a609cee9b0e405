from __future__ import annotations

import sys
from itertools import product

import pytest
from packaging.specifiers import SpecifierSet

from toolpost_core.plugins.versions import allows

SPECIFIERS = [
    "",
    ">=1",
    ">=1,<2",
    ">=1.2.3,<2",
    "<1",
    "<=1.0",
    "==1.*",
    "~=1.0",
    "!=1.0.0",
    ">1",
    ">= 1 , < 2",
    ">=2.0rc1",
]
VERSIONS = ["0.9", "1", "1.0.0", "1.2.3", "1.10.0", "2.0.0", "2.1"]


@pytest.mark.parametrize(("specifier", "version"), list(product(SPECIFIERS, VERSIONS)))
def test_the_answer_is_that_of_packaging(specifier: str, version: str) -> None:
    assert allows(specifier, version) == SpecifierSet(specifier).contains(version, prereleases=True)


def test_a_range_that_can_not_be_read_includes_nothing() -> None:
    assert not allows(">=one", "1.0.0")


def test_the_usual_range_needs_no_packaging(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "packaging.specifiers", None)
    assert allows(">=1,<2", "1.0.0")
    assert not allows(">=2,<3", "1.0.0")
