"""Whatever became of a transcript, what is resumed is taken by the service, and nobody who reads it fails."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mock_messages.rules import violations

from toolpost import Message, SessionError
from toolpost_core.cli.commands.sessions_show import _told
from toolpost_core.transcripts.chain import LINKED
from toolpost_core.transcripts.export import exported, markdown
from toolpost_core.transcripts.history import History, read
from toolpost_core.transcripts.kinds import BOUNDARY, REWIND, TOMBSTONE
from toolpost_core.transcripts.listing import look
from toolpost_core.transcripts.past import before, prompts_in
from toolpost_core.transcripts.reading import records_of
from toolpost_core.transcripts.transcript import Transcript

HERE = Path("/p")
PIXEL = {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}
ODD: Any = st.recursive(
    st.sampled_from([None, True, 0, -1, 1.5, "", "x", "\ud83d", "u1", "text", "tool_use", "tool_result"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "text", "id", "content", "name", "input", "uuid"]), inner, max_size=3
        )
    ),
    max_leaves=6,
)
RESULTS: Any = (
    [{"type": "text", "text": "out"}, {"type": "image", "source": PIXEL}],
    [{"type": "text", "text": " "}],
    [{"type": "text"}, None, "x", {"no": "type"}],
    None,
    3,
    {"a": 1},
)
BLOCKS = st.one_of(
    st.sampled_from(["hello", " ", "é🦀", "a\u2028b"]).map(lambda text: {"type": "text", "text": text}),
    st.just({"type": "thinking", "thinking": "hm", "signature": "s"}),
    st.just({"type": "image", "source": PIXEL}),
    st.integers(1, 5).map(lambda n: {"type": "tool_use", "id": f"t{n}", "name": "Bash", "input": {"command": "ls"}}),
    st.tuples(st.integers(1, 5), st.sampled_from(["out", "", [], *RESULTS])).map(
        lambda both: {"type": "tool_result", "tool_use_id": f"t{both[0]}", "content": both[1]}
    ),
)
ALLOWED = {"user": ("text", "tool_result", "image"), "assistant": ("text", "tool_use", "thinking")}


def foreign(data: st.DataObject, known: list[str]) -> Mapping[str, Any]:
    """A record of another program, or one of ours whose fields hold something else."""
    kind = data.draw(
        st.sampled_from(["user", "assistant", "system", "attachment", "progress", "summary", "x", TOMBSTONE, REWIND])
    )
    fields: dict[str, Any] = {"type": kind, "uuid": f"f{len(known)}", "parentUuid": data.draw(st.sampled_from(known))}
    if kind in ALLOWED:
        content = data.draw(st.lists(BLOCKS, max_size=3) | ODD)
        fields["message"] = {"role": kind, "id": data.draw(st.sampled_from(["m1", "m2", None])), "content": content}
    odd = data.draw(
        st.dictionaries(
            st.sampled_from(
                [
                    *("type", "uuid", "parentUuid", "message", "uuids", "leafUuid", "subtype", "cwd", "messageFile"),
                    *(
                        "compactMetadata",
                        "boundaryUuid",
                        "logicalParentUuid",
                        "replacements",
                        "isSidechain",
                        "promptAt",
                    ),
                    *("schema", "customTitle", "operation", "queuedId", "forkedFrom", "timestamp", "gitBranch"),
                ]
            ),
            ODD,
            max_size=2,
        )
    )
    known.append(str(fields["uuid"]))
    return {**fields, **odd}


def told(data: st.DataObject, path: Path) -> None:
    """Write a transcript of some steps: turns, branches, going back, discarding, compaction, what others write."""
    file = Transcript(path, path.stem, "0", pytest.fail)
    known = [file.message("user", {"role": "user", "content": [{"type": "text", "text": "first"}]}, HERE, uuid="u0")]
    for _ in range(data.draw(st.integers(0, 12))):
        step = data.draw(
            st.sampled_from(["user", "assistant", "assistant", "branch", "back", "discard", "compact", "x"])
        )
        if step in ALLOWED:
            content = [block for block in data.draw(st.lists(BLOCKS, max_size=3)) if block["type"] in ALLOWED[step]]
            message = {"role": step, "id": data.draw(st.sampled_from(["m1", "m2"])), "content": content}
            known.append(file.message(step, message, HERE, uuid=f"u{len(known)}"))
        elif step == "branch":
            file.parent = data.draw(st.sampled_from(known))
        elif step == "back":
            file.parent = data.draw(st.sampled_from([None, *known]))
            file.side(REWIND, leafUuid=file.parent)
        elif step == "discard":
            file.discard(data.draw(st.lists(st.sampled_from(known), max_size=2)))
        elif step == "compact":
            file.boundary([{"role": "user", "content": "What was said."}], HERE)
        else:
            with path.open("ab") as end:
                end.write(json.dumps(foreign(data, known)).encode() + b"\n")
    file.close()


def damaged(data: st.DataObject, path: Path) -> None:
    """Cut a file somewhere, overwrite some bytes in it, or leave it."""
    raw = path.read_bytes()
    match data.draw(st.sampled_from(["", "cut", "middle", "line"])):
        case "cut":
            raw = raw[: data.draw(st.integers(0, len(raw)))]
        case "middle":
            place = data.draw(st.integers(0, len(raw)))
            junk = data.draw(st.binary(max_size=20))
            raw = raw[:place] + junk + raw[place + len(junk) :]
        case "line":
            lines = raw.splitlines(keepends=True)
            del lines[data.draw(st.integers(0, len(lines) - 1))]
            raw = b"".join(lines)
    path.write_bytes(raw)


OF_A_PICTURE = re.compile(r"the data is not|source\.data is not base64")
"""What the service says of damaged pictures: they are taken out then, as it alone knows which it takes."""


def sent(history: History, prompt: str) -> dict[str, Any]:
    """The request that goes out when a prompt is added to what was read."""
    asked: Message = {"role": "user", "content": [{"type": "text", "text": prompt}]}
    messages: list[Any] = list(history.messages)
    if messages and messages[-1]["role"] == "user":
        messages[-1] = {"role": "user", "content": [*messages[-1]["content"], *asked["content"]]}
    else:
        messages.append(asked)
    # What half a character becomes on its way to the service is the provider's business.
    clean = json.loads(json.dumps(messages, ensure_ascii=False).encode("utf-8", "replace"))
    return {"model": "m", "max_tokens": 1, "messages": clean}


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_what_is_resumed_is_taken_and_goes_on(tmp_path_factory: Any, data: st.DataObject) -> None:
    path = tmp_path_factory.mktemp("t") / "s.jsonl"
    told(data, path)
    damaged(data, path)
    try:
        history = read(path)
    except SessionError:
        assert b'"message":' not in path.read_bytes() or not any(map(_speaks, records_of(path)))
        return
    refused = violations(sent(history, "on"))
    assert [text for text in refused if not OF_A_PICTURE.search(text)] == []

    file = Transcript(path, path.stem, "0", pytest.fail, history.leaf, states=history.states)
    file.lock(history.end)
    file.message("user", {"role": "user", "content": [{"type": "text", "text": "and on"}]}, HERE, uuid="new")
    file.close()
    again = read(path)
    assert violations(sent(again, "on")) == []
    assert "and on" in str(again.messages[-1])
    assert again.leaf == "new"


def _speaks(record: Mapping[str, Any]) -> bool:
    return record.get("type") in ALLOWED and isinstance(record.get("message"), dict) and not record.get("isSidechain")


@settings(max_examples=120, deadline=None)
@given(st.data())
def test_whoever_reads_it_does_not_fail(tmp_path_factory: Any, data: st.DataObject) -> None:
    path = tmp_path_factory.mktemp("t") / "s.jsonl"
    told(data, path)
    damaged(data, path)
    records = records_of(path)
    look(path)
    for record in records:
        assert all(isinstance(line, str) for line in _told(record))
    for prompt in prompts_in(records):
        if not prompt.rewound:
            assert violations(sent_before(path, prompt.id)) == []
    try:
        said = exported(path)
    except SessionError:
        return
    assert markdown(said)
    json.dumps(said)


def sent_before(path: Path, prompt: str) -> dict[str, Any]:
    past = before(path, prompt)
    return sent(History("s", past.messages, None), past.text.strip() or "on")


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_a_copy_has_the_same_conversation_and_names_no_record_that_it_has_not(
    tmp_path_factory: Any, data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("t") / "s.jsonl"
    told(data, path)
    try:
        history = read(path)
    except SessionError:
        return
    copy = Transcript(path.with_name("copy.jsonl"), "copy", "0", pytest.fail)
    copy.fork(history)
    copy.close()

    assert read(path.with_name("copy.jsonl")).messages == history.messages
    assert _dangling(path.with_name("copy.jsonl")) <= _dangling(path)


def _dangling(path: Path) -> set[str]:
    """The parents that records of the chain name and that are not there."""
    linked = [record for record in records_of(path) if record.get("type") in LINKED and not record.get("isSidechain")]
    named = {str(record["parentUuid"]) for record in linked if record.get("parentUuid") is not None}
    return named - {str(record.get("uuid")) for record in linked}


def test_a_rewind_to_the_beginning_does_not_lead_to_a_record_without_id(tmp_path: Path) -> None:
    said = {"type": "user", "uuid": None, "parentUuid": None, "message": {"role": "user", "content": "go"}}
    path = tmp_path / "s.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in (said, {"type": REWIND, "leafUuid": None})))

    assert read(path).messages == ()


def test_children_of_records_that_a_copy_leaves_out_go_to_those_above(tmp_path: Path) -> None:
    rows = [
        {"type": "user", "uuid": "1", "parentUuid": None, "message": {"role": "user", "content": "go"}},
        {"type": "progress", "uuid": "2", "parentUuid": "1"},
        {"type": "progress", "uuid": "3", "parentUuid": "2"},
        {"type": "assistant", "uuid": "4", "parentUuid": "3", "message": {"role": "assistant", "content": "Yes."}},
        {"type": "progress", "uuid": "5", "parentUuid": "4"},
        {"type": "system", "subtype": BOUNDARY, "uuid": "6", "parentUuid": None, "logicalParentUuid": "5"},
    ]
    path = tmp_path / "s.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    copy = Transcript(tmp_path / "copy.jsonl", "copy", "0", pytest.fail)
    copy.fork(read(path))
    copy.close()

    copied = records_of(tmp_path / "copy.jsonl")
    assert [(record["uuid"], record["parentUuid"]) for record in copied] == [("1", None), ("4", "1"), ("6", None)]
    assert copied[2]["logicalParentUuid"] == "4"
