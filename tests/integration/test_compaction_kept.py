"""What outlives compactions: the bytes that a resume sends, and a person's own words."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from compacting import FULL, HANDOVER, asks_for_summary, compacted, opened, read, sent
from fake_session import of_type, result_of, run
from mock_messages_api import MockMessagesApi, Request, Step, tool_use, turn

from toolpost import Notice
from toolpost_core.session.session import Session

TELLS = """printf '{"hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"from a hook"}}'"""


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    """The provider looks for its key in the environment of the process."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "test")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = (tmp_path / "project").resolve()
    folder.mkdir()
    return folder


EAGER = {
    "micro": {"enabled": True, "config": {"keep": 1, "above": 0.0, "min_tokens": 1}},
    "snip": {"enabled": True, "config": {"longest": 60, "keep": 2, "above": 0.0, "min_tokens": 1}},
}
NOTES = {"enabled": True, "config": {"min_tokens": 100, "min_texts": 1, "max_tokens": 300}}


@pytest.mark.parametrize(
    "plugins",
    [{}, EAGER, {**EAGER, "micro": False}, {**EAGER, "summary": False, "session_memory": NOTES}],
    ids=["as it ships", "clears and cuts", "cuts", "no model is asked"],
)
async def test_a_resume_after_several_compactions_sends_the_same_bytes(project: Path, plugins: Any) -> None:
    (project / "AGENTS.md").write_text("Be brief.\n")
    (project / "sea.txt").write_text("salt\n" * 400)

    def answer(request: Request) -> Any:
        newest = request.body["messages"][-1]["content"]
        if asks_for_summary(request):
            return HANDOVER
        if any(block["type"] == "tool_result" for block in newest):
            return "It is salt. " * 300
        told = {"file_path": str(project / f"new{len(api.requests)}.txt"), "content": "pepper " * 300}
        return turn(read(project / "sea.txt"), tool_use("Write", told))

    given = json.dumps({"plugins": plugins})
    async with MockMessagesApi([answer] * 40) as api, opened(api, project, settings=given) as session:
        boundaries = 0
        for prompt in ("Count the sea.", "Again.", "And again.", "Once more.", "The last time."):
            await run(session, prompt)
            if prompt != "Again.":
                told = of_type(await compacted(session), Notice)
                boundaries += sum(notice.kind == "compact_boundary" for notice in told)
        assert boundaries == 4
        await run(session, "After that.")
        kept, path = session.messages, session.transcript_path
        assert path is not None
        copy = path.with_name("copy.jsonl")
        copy.write_bytes(path.read_bytes())
        sent_before = len(api.requests)
        await run(session, "More.")
    async with (
        MockMessagesApi([answer] * 9) as later,
        opened(later, project, resume=str(copy), settings=given) as session,
    ):
        assert json.dumps(session.messages) == json.dumps(kept)
        await run(session, "More.")
    assert unmarked(later.requests[0]) == unmarked(api.requests[sent_before])


def unmarked(request: Request) -> Mapping[str, str]:
    """Return what a request reads, as bytes, without the marks for the prompt cache."""
    mark = re.compile(r', "cache_control": \{[^}]*\}')
    return {name: mark.sub("", json.dumps(request.body[name])) for name in ("system", "tools", "messages")}


async def test_what_a_person_wrote_while_calls_ran_is_carried_over_and_what_a_hook_told_is_not(project: Path) -> None:
    (project / "sea.txt").write_text("salt\n")
    hook = {"hooks": {"PostToolUse": [{"hooks": [{"type": "command", "command": TELLS}]}]}}
    sessions: list[Session] = []

    def sends(request: Request) -> Any:
        sessions[0].enqueue("Only the north sea.")
        return turn(read(project / "sea.txt"))

    script: list[Step] = [sends, turn(read(project / "sea.txt"), usage=FULL), HANDOVER, "Done."]
    async with MockMessagesApi(script) as api, opened(api, project, settings=json.dumps(hook)) as session:
        sessions.append(session)
        assert result_of(await run(session, "Count the sea.")).text == "Done."
    assert "from a hook" in sent(api.requests[1])
    assert "<said>\\nOnly the north sea.\\n</said>" in sent(api.requests[3])
    assert "<said>\\nCount the sea.\\n</said>" in sent(api.requests[3])
    assert "from a hook" not in sent(api.requests[3])
