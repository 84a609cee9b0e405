from __future__ import annotations

from pathlib import Path

import pytest

from toolpost_service_confinement import survey
from toolpost_service_confinement.survey import MOST, Surveyor


def test_what_was_found_before_commands_ran_is_not_hidden_by_files_that_they_make(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = tmp_path / "packages/app"
    for place in (deep / ".claude", deep / "gone/.claude", deep / ".git"):
        place.mkdir(parents=True)
    (deep / ".env").touch()
    monkeypatch.setattr(survey, "KEPT_SECONDS", -1.0)
    surveyor = Surveyor()
    surveyor.survey(tmp_path)

    for number in range(MOST + 1):
        (tmp_path / f"junk-{number}").touch()
    (deep / "gone/.claude").rmdir()
    found = surveyor.survey(tmp_path)

    assert found.protected == (deep / ".claude",)
    assert found.repositories == (deep / ".git",)
    assert (".env", str(deep / ".env")) in found.names
