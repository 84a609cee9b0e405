"""The end of a turn is played behind what still came of an answer before it was heard."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from toolpost_service_recorder.reading import Tape

PIECE = {"e": "piece", "answer": 1, "event": {"$": "TextDelta", "text": "a"}}
DONE = {"e": "done", "answer": 1}
INTERRUPT = {"e": "did", "what": "interrupt", "given": {"reason": "user_cancel"}}
NOW = {"e": "did", "what": "enqueue", "given": {"prompt": "two", "priority": "now", "message_id": None}}
NEXT = {"e": "did", "what": "enqueue", "given": {"prompt": "two", "priority": "next", "message_id": None}}
TOLD = {"e": "did", "what": "tell", "given": {"event": None}}
SUBMIT = {"e": "did", "what": "submit", "given": {"prompt": "two", "message_id": None}}
CALL = {"e": "call", "id": "t1"}


@pytest.mark.parametrize(
    ("recorded", "played"),
    [
        ([INTERRUPT, PIECE, INTERRUPT], [PIECE, INTERRUPT, INTERRUPT]),
        ([INTERRUPT, INTERRUPT, PIECE, DONE], [PIECE, DONE, INTERRUPT, INTERRUPT]),
        ([NOW, PIECE], [PIECE, NOW]),
        ([NEXT, PIECE], [NEXT, PIECE]),
        ([INTERRUPT, TOLD, PIECE, CALL], [TOLD, PIECE, INTERRUPT, CALL]),
        ([INTERRUPT, NEXT, PIECE], [PIECE, INTERRUPT, NEXT]),
        ([INTERRUPT, CALL, PIECE], [INTERRUPT, CALL, PIECE]),
        ([INTERRUPT, SUBMIT, PIECE], [INTERRUPT, SUBMIT, PIECE]),
    ],
)
def test_it_is_behind_what_came_right_behind_it(
    recorded: list[dict[str, Any]], played: list[dict[str, Any]], tmp_path: Path
) -> None:
    file = tmp_path / "session.jsonl"
    file.write_text("".join(json.dumps(entry) + "\n" for entry in ({"recording": 2}, *recorded)))

    assert [{k: v for k, v in entry.items() if k != "after"} for entry in Tape.read(file).turns] == played
