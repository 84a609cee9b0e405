from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from toolpost_core.settings import Settings, load


def loaded(tmp_path: Path, user: Any, project: Any, *, trusted: bool) -> Settings:
    for folder, order in (("config", user), ("project/.toolpost", project)):
        (tmp_path / folder).mkdir(parents=True)
        text = json.dumps({"plugins": {"order": order}} if order is not None else {})
        (tmp_path / folder / "settings.json").write_text(text, encoding="utf-8")
    return load(tmp_path / "project", tmp_path, tmp_path / "config", trusted=trusted, env={})


@pytest.mark.parametrize(
    ("user", "project", "trusted", "order"),
    [
        (["a", "b"], None, True, ["a", "b"]),
        (["a"], ["b"], True, ["b"]),
        (["a"], ["b"], False, ["a"]),
        (None, None, True, None),
    ],
)
def test_the_highest_level_that_may_says_the_order(
    tmp_path: Path, user: Any, project: Any, trusted: bool, order: Any
) -> None:
    settings = loaded(tmp_path, user, project, trusted=trusted)

    assert settings.get("plugins.order") == order
    assert (dict(settings.plugins), settings.problems) == ({}, ())


def test_an_order_that_is_no_list_of_names_is_told_of_and_passed_over(tmp_path: Path) -> None:
    settings = loaded(tmp_path, ["a", 3], None, trusted=True)

    assert settings.get("plugins.order") is None
    (problem,) = settings.problems
    assert "plugins.order" in problem.text
