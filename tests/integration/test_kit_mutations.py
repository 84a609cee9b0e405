"""Breaking one rule of a contract kit in a copy of a plugin makes that rule's test fail, and no other."""

from __future__ import annotations

from pathlib import Path

import pytest
from mutations import SUBJECTS
from mutations.runs import failures
from mutations.subject import Subject

from toolpost import testing

every_subject = pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.contract.__name__)


@every_subject
@pytest.mark.timeout(300)
def test_the_rule_that_is_broken_is_the_one_that_fails(subject: Subject, tmp_path: Path) -> None:
    found = failures(subject, tmp_path.resolve())
    assert found.pop("") == set(), "a copy that nobody broke"
    for rule in subject.groundwork:
        assert rule in found.pop(rule)
    assert {rule: failed for rule, failed in found.items() if failed != {rule}} == {}


@every_subject
def test_every_rule_of_the_kit_is_broken_once(subject: Subject) -> None:
    assert sorted(subject.every_rule) == sorted(name for name in dir(subject.contract) if name.startswith("test_"))


def test_every_kit_has_a_plugin_that_is_broken() -> None:
    kits = [name for name in testing.__all__ if name.endswith("Contract") and name != "PluginContract"]
    assert sorted(subject.contract.__name__ for subject in SUBJECTS) == sorted(kits)
