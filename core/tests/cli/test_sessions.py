"""`toolpost sessions`."""

from __future__ import annotations

import json
import os
import resource
from pathlib import Path
from typing import Any

import pytest

from toolpost_core.transcripts.history import read
from toolpost_core.transcripts.kinds import TITLE
from toolpost_core.transcripts.store import Store
from toolpost_core.transcripts.transcript import Transcript


def record(role: str, name: str, parent: str | None, text: str) -> dict[str, Any]:
    message = {"role": role, "content": [{"type": "text", "text": text}]}
    return {"type": role, "uuid": name, "parentUuid": parent, "message": message}


def test_what_was_said_is_searched_too(toolpost: Any, session: Path) -> None:
    def found(words: str) -> list[str | None]:
        return [each["match"] for each in toolpost.json("sessions", "list", "--json", "--search", words)]

    assert len(found("MENDED. curl mending")) == 1
    assert found("i LOOK.") == ["I look."]
    assert found("tool_use") == found("assistant") == found("signature") == []
    assert "SAID" in toolpost("sessions", "list", "--search", "look").stdout


def test_a_session_that_can_not_be_read_is_named_beside_the_list(toolpost: Any, session: Path) -> None:
    broken = session.with_name("broken.jsonl")
    broken.symlink_to(broken)
    done = toolpost("sessions", "list")

    assert session.stem in done.stdout
    assert f"{broken} is not among these: it can't be read" in done.stderr


@pytest.mark.parametrize("as_ascii", [True, False])
def test_words_of_any_letters_and_with_quotes_are_found(toolpost: Any, as_ascii: bool) -> None:
    path = Store(toolpost.config).path(toolpost.project, "5e551012")
    path.parent.mkdir(parents=True)
    first = {**record("user", "1", None, "hi"), "cwd": str(toolpost.project)}
    lines = [first, record("assistant", "2", "1", 'Ein "süßes" Ende\nÜBER alles')]
    path.write_text("".join(json.dumps(line, ensure_ascii=as_ascii) + "\n" for line in lines), encoding="utf-8")

    for words in ('"SÜSSES"', "über", "ende"):
        assert len(toolpost.json("sessions", "list", "--json", "--search", words)) == 1, words


def test_what_a_newer_version_wrote_is_said_to_be_shown_in_part(toolpost: Any, session: Path) -> None:
    for command in (("show",), ("show", "--json"), ("export",), ("export", "--json")):
        assert "newer" not in toolpost("sessions", command[0], session.stem, *command[1:]).stderr
    text = session.read_text()
    session.write_text(text.replace('"schema":1', '"schema":7', 1))
    for command in (("show",), ("show", "--json"), ("export",), ("export", "--json")):
        done = toolpost("sessions", command[0], session.stem, *command[1:])
        assert "written by a newer Toolpost" in done.stderr
        assert "look" in done.stdout


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


SECRET = "ghp" + "_abcdefghijklmnopqrstuvwxyz0123456789"


@pytest.fixture
def session(toolpost: Any) -> Path:
    """A session with a call, thoughts and a secret, compacted once, with a title."""
    path = Store(toolpost.config).path(toolpost.project, "5e551011")
    file = Transcript(path, path.stem, "0", pytest.fail)

    def say(role: str, *blocks: dict[str, Any], **extra: Any) -> None:
        file.message(role, {"role": role, "content": list(blocks)}, toolpost.project, **extra)

    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": f"curl -H {SECRET}"}}
    say("user", {"type": "text", "text": "Mend the ```build```"}, promptAt=0)
    say(
        "assistant",
        {"type": "thinking", "thinking": "Hm.", "signature": "s"},
        {"type": "text", "text": "I look."},
        call,
    )
    say("user", {"type": "tool_result", "tool_use_id": "t1", "content": "```\nout", "is_error": True})
    say("assistant", {"type": "text", "text": "Done."})
    file.boundary([{"role": "user", "content": "The build was mended."}], toolpost.project)
    say("assistant", {"type": "text", "text": "And now?"})
    file.state(TITLE, customTitle="Mending")
    file.close()
    return path


def test_a_list_says_what_sessions_are_about_and_is_searched(toolpost: Any, session: Path) -> None:
    (listed,) = toolpost.json("sessions", "list", "--json")
    assert (listed["id"], listed["title"], listed["first_prompt"]) == (session.stem, "Mending", "Mend the ```build```")
    assert (listed["project"], listed["bytes"]) == (str(toolpost.project), session.stat().st_size)

    assert "Mending" in toolpost("sessions", "list").stdout
    assert toolpost.json("sessions", "list", "--json", "--search", "MEND project") == [{**listed, "match": None}]
    assert toolpost.json("sessions", "list", "--json", "--search", "tear down") == []


def test_an_export_has_all_that_was_said_and_no_secrets(toolpost: Any, session: Path) -> None:
    said = toolpost.json("sessions", "export", "5e55", "--json")
    assert (said["id"], said["title"]) == (session.stem, "Mending")
    roles = [(message["role"], message.get("summary", False)) for message in said["messages"]]
    assert roles == [
        ("user", False),
        ("assistant", False),
        ("user", False),
        ("assistant", False),
        ("system", False),
        ("user", True),
        ("assistant", False),
    ]
    assert SECRET not in json.dumps(said)
    assert said["messages"][1]["content"][2]["input"] == {"command": "curl -H [redacted: GitHub token]"}
    assert SECRET in session.read_text()
    assert SECRET in json.dumps(toolpost.json("sessions", "export", "5e55", "--json", "--with-secrets"))


def test_an_export_is_markdown_in_which_nothing_breaks_out_of_its_fence(toolpost: Any, session: Path) -> None:
    file = toolpost.project / "out.md"
    done = toolpost("sessions", "export", session.stem, "-o", str(file))
    told = file.read_text(encoding="utf-8")

    assert (done.returncode, done.stdout) == (0, "")
    assert told.startswith("# Mending\n\n- Session: 5e551011\n")
    assert "## User\n\nMend the ```build```" in told
    assert "<details><summary>Failed</summary>\n\n````\n```\nout\n````" in told
    assert "*The conversation was compacted here.*\n\n## Summary\n\nThe build was mended.\n\n## Assistant" in told
    assert SECRET not in told
    assert toolpost("sessions", "export", session.stem).stdout == told


def test_a_copy_is_a_session_of_its_own(toolpost: Any, session: Path) -> None:
    before = session.read_bytes()
    copy = toolpost.json("sessions", "fork", session.stem, "--json")

    assert Path(copy["file"]).parent == session.parent
    listed = {one["id"]: one for one in toolpost.json("sessions", "list", "--json")}
    assert listed[copy["id"]]["title"] == "Mending (fork)"
    assert listed[copy["id"]]["forked_from"] == session.stem
    assert read(Path(copy["file"])).messages == read(session).messages
    assert session.read_bytes() == before


def test_a_copy_that_finds_no_room_is_none(toolpost: Any, session: Path) -> None:
    room = session.stat().st_size // 2
    done = toolpost(
        "sessions", "fork", session.stem, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
    )

    assert (done.returncode, done.stdout) == (1, "")
    assert "can't be written" in done.stderr
    assert list(session.parent.glob("*.jsonl")) == [session]


def test_a_prune_says_what_it_removes(toolpost: Any, session: Path) -> None:
    os.utime(session, (1, 1))
    toolpost.settings({"cleanupPeriodDays": 100_000})
    assert toolpost.json("sessions", "prune", "--json")["sessions"] == []
    assert toolpost.json("sessions", "prune", "--older-than", "9", "--dry-run", "--json")["sessions"] == [str(session)]
    assert session.exists()
    assert str(session) in toolpost("sessions", "prune", "--older-than", "9").stdout
    assert not session.exists()


def test_what_is_shown_is_shown_once_around_a_compaction(toolpost: Any, session: Path) -> None:
    lines = toolpost("sessions", "show", session.stem).stdout.splitlines()
    assert lines[-4:] == ["assistant: Done.", "[compacted]", "user: The build was mended.", "assistant: And now?"]
