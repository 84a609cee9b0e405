"""`toolpost compact`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from toolpost.testing import conversation


@pytest.fixture
def session(toolpost: Any) -> str:
    """A session of 30 turns with long results."""
    toolpost("tool", "run", "--json", input=json.dumps({"tool": "Bash", "input": {"command": "true"}}))
    (found,) = toolpost.json("sessions", "list", "--json")
    lines, parent = [], None
    for number, message in enumerate(conversation(30, result="line\n" * 4_000)):
        record = {"type": message["role"], "uuid": str(number), "parentUuid": parent, "message": message}
        lines.append(json.dumps({**record, "sessionId": found["id"], "cwd": str(toolpost.project)}))
        parent = str(number)
    Path(found["file"]).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(found["id"])


def test_a_dry_run_says_what_each_strategy_would_keep_and_changes_nothing(toolpost: Any, session: str) -> None:
    (found,) = toolpost.json("sessions", "list", "--json")
    before = Path(found["file"]).read_bytes()
    told = {one["strategy"]: one for one in toolpost.json("compact", "--dry-run", "--json", session)}
    assert {"micro", "snip", "session_memory", "summary", "reactive", "partial"} <= set(told)
    for name in ("micro", "snip", "session_memory", "summary", "reactive"):
        assert told[name]["after"] < told[name]["before"], name
        assert told[name]["kept"] + told[name]["dropped"] == 120
    assert "summary would stand here" in told["summary"]["boundary"]
    assert "Prompt 0" in told["session_memory"]["boundary"]
    assert "after" not in told["partial"]
    assert Path(found["file"]).read_bytes() == before


def test_a_dry_run_says_of_a_short_session_what_the_command_does(toolpost: Any, session: str) -> None:
    (found,) = toolpost.json("sessions", "list", "--json")
    file = Path(found["file"])
    file.write_text("\n".join(file.read_text().splitlines()[:4]) + "\n", encoding="utf-8")
    told = {one["strategy"]: one for one in toolpost.json("compact", "--dry-run", "--json", session)}
    assert (told["summary"]["trigger"], told["summary"]["kept"]) == ("manual", 0)


def test_a_name_in_the_order_that_no_strategy_has_is_told(toolpost: Any, session: str) -> None:
    toolpost.settings({"compaction": {"order": ["sumary"]}})
    done = toolpost("compact", "--dry-run", session)
    assert done.returncode == 0
    assert "'sumary'" in done.stderr


def test_the_order_of_the_settings_is_the_order_of_the_table(toolpost: Any, session: str) -> None:
    toolpost.settings({"compaction": {"order": ["summary", "micro"]}})
    names = [line.split()[0] for line in toolpost("compact", "--dry-run", session).stdout.splitlines()]
    assert names[1:3] == ["summary", "micro"]


def test_without_it_the_session_is_shorter_afterwards(toolpost: Any, session: str) -> None:
    toolpost.settings({"plugins": {"summary": False}})  # so that no model is asked
    (before, *_) = (one["before"] for one in toolpost.json("compact", "--dry-run", "--json", session))
    toolpost.env["ANTHROPIC_API_KEY"] = "none is asked for"
    done = toolpost("compact", session)
    assert done.returncode == 0, done.stderr
    assert "compacted by session_memory" in done.stdout
    (after, *_) = (one["before"] for one in toolpost.json("compact", "--dry-run", "--json", session))
    assert after < before / 2
    again = toolpost("compact", session)
    assert again.returncode != 0
    assert "short enough" in again.stderr


def test_an_unknown_session_is_an_error(toolpost: Any) -> None:
    done = toolpost("compact", "--dry-run", "nothing")
    assert done.returncode != 0
    assert "nothing" in done.stderr
