"""`toolpost sessions`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def record(role: str, name: str, parent: str | None, text: str) -> dict[str, Any]:
    message = {"role": role, "content": [{"type": "text", "text": text}]}
    return {"type": role, "uuid": name, "parentUuid": parent, "message": message}


def test_what_a_conversation_went_back_from_is_marked(toolpost: Any) -> None:
    toolpost("tool", "run", "--json", input=json.dumps({"tool": "Bash", "input": {"command": "true"}}))
    (session,) = toolpost.json("sessions", "list", "--json")
    records = [
        record("user", "1", None, "first"),
        record("assistant", "2", "1", "One."),
        record("user", "3", "2", "second"),
        record("assistant", "4", "3", "Two.\nIndeed."),
        {"type": "conversation-rewind", "messageId": "3", "leafUuid": "2"},
        record("user", "5", "2", "third"),
    ]
    Path(session["file"]).write_text("".join(json.dumps(line) + "\n" for line in records), encoding="utf-8")

    assert toolpost("sessions", "show", session["id"]).stdout.splitlines() == [
        "user: first",
        "assistant: One.",
        "[left] user: second",
        "[left] assistant: Two.",
        "[left] Indeed.",
        "user: third",
    ]
