from __future__ import annotations

import json
from typing import Any

WAITING = {"permissions": {"allow": ["Bash(make)"]}}


def allowed(toolpost: Any) -> str:
    call = ("permissions", "explain", "Bash", "--input", json.dumps({"command": "make"}), "--json")
    decision: str = toolpost.json(*call)["decision"]
    return decision


def test_a_folder_counts_from_when_it_is_trusted_until_that_is_taken_back(toolpost: Any) -> None:
    (toolpost.project / ".toolpost").mkdir()
    (toolpost.project / ".toolpost" / "settings.json").write_text(json.dumps(WAITING), encoding="utf-8")
    assert allowed(toolpost) == "ask"

    assert toolpost("trust", "add").stdout == f"{toolpost.project} is now trusted.\n"
    assert allowed(toolpost) == "allow"
    assert toolpost.json("trust", "list", "--json") == [{"folder": str(toolpost.project), "trusted": True}]

    assert "no longer" in toolpost("trust", "remove").stdout
    assert allowed(toolpost) == "ask"
    assert toolpost.json("trust", "list", "--json") == []


def test_a_folder_that_is_gone_can_be_forgotten_and_not_trusted(toolpost: Any) -> None:
    gone = toolpost.project / "gone"
    gone.mkdir()
    assert toolpost("trust", "add", str(gone)).returncode == 0
    gone.rmdir()
    assert toolpost("trust", "add", str(gone)).returncode == 2
    assert "no longer" in toolpost("trust", "remove", str(gone)).stdout
