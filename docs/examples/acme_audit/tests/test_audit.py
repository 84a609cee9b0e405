import json
from pathlib import Path

from acme_audit import Audit
from toolpost import Origin, PostToolUse, SessionStart


def test_each_session_has_a_file_with_a_line_for_each_event(tmp_path: Path) -> None:
    audit = Audit(folder="log")
    for session in ("a", "b"):
        origin = Origin(session_id=session, project=tmp_path)
        audit.started(SessionStart(origin=origin, model="m"))
        audit.called(PostToolUse(origin=origin, tool_name="Read", tool_input={"file_path": "x"}))
    assert sorted(file.name for file in (tmp_path / "log").iterdir()) == ["a.jsonl", "b.jsonl"]
    lines = [json.loads(line) for line in (tmp_path / "log/a.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [line["event"] for line in lines] == ["SessionStart", "PostToolUse"]
    assert lines[1]["input"] == {"file_path": "x"}


def test_a_line_break_in_a_prompt_stays_in_its_line(tmp_path: Path) -> None:
    origin = Origin(session_id="a", project=tmp_path)
    Audit().called(PostToolUse(origin=origin, tool_name="Write", tool_input={"content": "one\ntwo\r\n\u2028"}))
    assert len((tmp_path / ".audit/a.jsonl").read_bytes().split(b"\n")) == 2
