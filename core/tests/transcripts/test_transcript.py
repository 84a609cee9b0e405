from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from toolpost import SessionError
from toolpost_core.transcripts.export import exported, markdown
from toolpost_core.transcripts.history import read
from toolpost_core.transcripts.kinds import TITLE
from toolpost_core.transcripts.redaction import Redactor
from toolpost_core.transcripts.transcript import STATE_EVERY, Transcript

MESSAGE = {"role": "user", "content": [{"type": "text", "text": "hi"}]}


def transcript(path: Path, told: list[str] | None = None) -> Transcript:
    return Transcript(path, "s", "1.2.3", (told if told is not None else []).append)


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.requirement("transcript.append_only")
def test_each_record_is_a_line_that_names_the_one_before_it(tmp_path: Path) -> None:
    file = transcript(tmp_path / "deep" / "s.jsonl")
    first = file.message("user", MESSAGE, Path("/here"))
    file.side("permission-decision", final="allow")
    second = file.message("assistant", {**MESSAGE, "role": "assistant"}, Path("/here"), toolUseResult={"a": 1})
    written = records(tmp_path / "deep" / "s.jsonl")

    assert [r["type"] for r in written] == ["user", "permission-decision", "assistant"]
    assert [(r["uuid"], r["parentUuid"]) for r in written if "uuid" in r] == [(first, None), (second, first)]
    assert {(r["cwd"], r["version"], r["sessionId"]) for r in written if "uuid" in r} == {("/here", "1.2.3", "s")}
    assert written[2]["toolUseResult"] == {"a": 1}
    file.close()


def test_a_record_is_in_the_file_when_the_call_returns(tmp_path: Path) -> None:
    file = transcript(tmp_path / "s.jsonl")
    file.message("user", MESSAGE, tmp_path)

    assert (tmp_path / "s.jsonl").read_bytes().endswith(b"\n")
    file.close()


def test_nobody_else_may_read_it(tmp_path: Path) -> None:
    file = transcript(tmp_path / "projects" / "p" / "s.jsonl")
    file.message("user", MESSAGE, tmp_path)
    file.message("user", LONG_MESSAGE, tmp_path)
    file.close()

    made = [path for path in tmp_path.rglob("*") if path.is_dir() or path.suffix in (".jsonl", ".json")]
    assert len(made) == 6
    assert {(path.is_dir(), oct(path.stat().st_mode & 0o777)) for path in made} == {(True, "0o700"), (False, "0o600")}


def test_a_stub_of_a_cut_off_record_is_not_glued_to_the_next(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(b'{"type":"user","uuid":"a"}\n{"type":"assis')
    file = transcript(path)
    file.message("user", MESSAGE, tmp_path)
    file.close()
    lines = path.read_bytes().split(b"\n")

    assert lines[1] == b'{"type":"assis'
    assert json.loads(lines[2])["message"] == MESSAGE


class Odd:
    """An object that JSON does not know."""

    def __str__(self) -> str:
        return "odd"


def cyclic() -> Any:
    value: dict[str, Any] = {}
    value["self"] = value
    return value


@pytest.mark.parametrize("data", [{(1, 2): 3}, cyclic(), {"a": Odd()}, {1: "x"}, float("nan"), {"a": {1, 2}}])
def test_data_that_is_not_json_costs_the_data_and_not_the_record(tmp_path: Path, data: Any) -> None:
    told: list[str] = []
    file = transcript(tmp_path / "s.jsonl", told)
    file.message("user", MESSAGE, tmp_path, toolUseResult=data)
    file.message("user", MESSAGE, tmp_path)
    file.close()

    assert [r["message"] for r in records(tmp_path / "s.jsonl")] == [MESSAGE, MESSAGE]


@pytest.mark.requirement("transcript.one_writer")
def test_a_second_writer_is_refused_and_told_who_has_it(tmp_path: Path) -> None:
    path = tmp_path / "abc.jsonl"
    holder = hold(path)
    try:
        with pytest.raises(SessionError) as refused:
            transcript(path).lock()
    finally:
        holder.kill()
        holder.communicate()

    assert f"pid {holder.pid}" in str(refused.value)
    assert "--resume abc --fork-session" in str(refused.value)


@pytest.mark.requirement("transcript.one_writer")
def test_the_lock_of_a_killed_process_is_taken_over(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    holder = hold(path)
    holder.send_signal(signal.SIGKILL)
    holder.communicate()
    file = transcript(path)
    file.message("user", MESSAGE, tmp_path)
    file.close()

    assert len(records(path)) == 2


def test_a_closed_transcript_lets_the_next_one_in(tmp_path: Path) -> None:
    for _ in range(2):
        file = transcript(tmp_path / "s.jsonl")
        file.message("user", MESSAGE, tmp_path)
        file.close()

    assert len(records(tmp_path / "s.jsonl")) == 2


HOLD = """
import sys
from pathlib import Path
from toolpost_core.transcripts.export import exported, markdown
from toolpost_core.transcripts.history import read
from toolpost_core.transcripts.redaction import Redactor
from toolpost_core.transcripts.kinds import TITLE
from toolpost_core.transcripts.transcript import STATE_EVERY, Transcript
file = Transcript(Path(sys.argv[1]), "s", "0", print)
file.message("user", {"role": "user", "content": "held"}, Path("/"))
print("held", flush=True)
sys.stdin.read()
"""


def hold(path: Path) -> subprocess.Popen[bytes]:
    """Start a process that has written to a transcript and keeps it."""
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"held\n"
    return process


FULL = """
import resource, sys
from pathlib import Path
from toolpost_core.transcripts.export import exported, markdown
from toolpost_core.transcripts.history import read
from toolpost_core.transcripts.redaction import Redactor
from toolpost_core.transcripts.kinds import TITLE
from toolpost_core.transcripts.transcript import STATE_EVERY, Transcript
resource.setrlimit(resource.RLIMIT_FSIZE, (4_000, 4_000))
file = Transcript(Path(sys.argv[1]), "s", "0", print)
for number in range(100):
    file.message("user", {"role": "user", "content": f"{number} " + "x" * 100}, Path("/"))
"""


def test_where_the_disk_is_full_the_run_goes_on_it_is_said_once_and_the_file_ends_in_a_whole_record(
    tmp_path: Path,
) -> None:
    done = subprocess.run(
        [sys.executable, "-B", "-c", FULL, str(tmp_path / "s.jsonl")],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )

    assert done.stdout.count("can't be written") == 1
    assert str(tmp_path / "s.jsonl") in done.stdout
    assert 0 < len(records(tmp_path / "s.jsonl")) < 40


ROOM_AGAIN = """
import resource, sys
from pathlib import Path
from toolpost_core.transcripts.kinds import TITLE
from toolpost_core.transcripts.transcript import Transcript
file = Transcript(Path(sys.argv[1]), "s", "0", print)
def say(*numbers):
    for number in numbers:
        file.message("user", {"role": "user", "content": f"{number} " + "x" * int(sys.argv[2])}, Path("/"))
say(0)
resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, resource.RLIM_INFINITY))
say(1, 2)
file.state(TITLE, customTitle="named")
file.side("of-a-plugin")
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
if sys.argv[3] == "more":
    say(3)
file.close()
"""


@pytest.mark.parametrize("then", ["more", "end"])
@pytest.mark.parametrize("size", [900, 300_000])
def test_what_found_no_room_is_written_as_soon_as_there_is_some(tmp_path: Path, size: int, then: str) -> None:
    path = tmp_path / "s.jsonl"
    done = subprocess.run(
        [sys.executable, "-B", "-c", ROOM_AGAIN, str(path), str(size), then],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    said = ["0 x", "1 x", "2 x", *(["3 x"] if then == "more" else [])]

    assert [line.split("): ")[0].split(" (")[0].split(f"{path} ")[1] for line in done.stdout.splitlines()] == [
        "can't be written",
        "can be written again, and nothing is missing in it.",
    ]
    blocks: list[Any] = [block for message in read(path).messages for block in message["content"]]
    told = [block["text"][:3] for block in blocks]
    assert (told, read(path).title) == (said, "named")
    kept = [record["uuid"] for record in records(path) if record["type"] == "user"]
    assert [record["parentUuid"] for record in records(path) if record["type"] == "user"] == [None, *kept[:-1]]


@pytest.mark.skipif(os.geteuid() == 0, reason="needs a user that file modes hold for")
def test_a_folder_that_cannot_be_written_is_said_once(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    told: list[str] = []
    file = transcript(tmp_path / "no" / "s.jsonl", told)
    for _ in range(3):
        file.message("user", MESSAGE, tmp_path)

    assert len(told) == 1


def test_a_file_in_the_place_of_a_folder_is_said_once(tmp_path: Path) -> None:
    (tmp_path / "no").write_text("")
    told: list[str] = []
    file = transcript(tmp_path / "no" / "s.jsonl", told)
    file.lock()
    for _ in range(3):
        file.message("user", MESSAGE, tmp_path)

    assert len(told) == 1


def test_without_a_path_nothing_is_kept() -> None:
    file = Transcript(None, "s", "0", lambda text: pytest.fail(text))
    file.message("user", MESSAGE, Path("/"))
    file.lock()
    file.close()


LONG_MESSAGE = {
    "role": "user",
    "content": [{"type": "text", "text": "told"}, {"type": "text", "text": "é\ud83d" * 99_000}],
}


def test_a_message_that_is_too_long_for_a_line_lies_beside_it(tmp_path: Path) -> None:
    file = transcript(tmp_path / "s.jsonl")
    file.message("user", LONG_MESSAGE, tmp_path, promptAt=1)
    file.close()
    (line,) = (tmp_path / "s.jsonl").read_bytes().splitlines()

    assert len(line) < 10_000
    assert read(tmp_path / "s.jsonl").messages == (LONG_MESSAGE,)
    copy = transcript(tmp_path / "copy.jsonl")
    copy.fork(read(tmp_path / "s.jsonl"))
    copy.close()
    (beside,) = (tmp_path / "s" / "messages").iterdir()
    beside.unlink()
    assert read(tmp_path / "copy.jsonl").messages == (LONG_MESSAGE,)
    assert "is gone" in str(read(tmp_path / "s.jsonl").messages)


PICTURE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo" * 40_000}}


def test_pictures_lie_beside_it_and_come_back_byte_for_byte(tmp_path: Path) -> None:
    file = transcript(tmp_path / "s.jsonl")
    file.message("user", {"role": "user", "content": [{"type": "text", "text": "look"}, PICTURE]}, tmp_path)
    call = {"type": "tool_use", "id": "t1", "name": "Read", "input": {}}
    file.message("assistant", {"role": "assistant", "id": "m1", "content": [call]}, tmp_path)
    shown = {"type": "tool_result", "tool_use_id": "t1", "content": [PICTURE]}
    file.message("user", {"role": "user", "content": [shown]}, tmp_path, toolUseResult={"pages": ["x" * 2_000] * 200})
    file.close()
    path = tmp_path / "s.jsonl"
    told = exported(path)

    assert max(map(len, path.read_bytes().splitlines())) < 10_000
    assert [message["content"][-1] for message in read(path).messages] == [PICTURE, call, shown]
    assert Redactor(("iVBOR",))(told) == told
    assert "[image]" in markdown(told)


def test_a_file_of_a_message_is_looked_for_beside_the_transcript_only(tmp_path: Path) -> None:
    (tmp_path / "secret.json").write_text('{"role": "user", "content": "secret"}')
    line = {"type": "user", "uuid": "1", "message": MESSAGE, "messageFile": "../secret.json"}
    (tmp_path / "s.jsonl").write_text(json.dumps(line) + "\n")

    assert 'secret"' not in json.dumps(read(tmp_path / "s.jsonl").messages)


def test_a_state_that_is_longer_than_the_room_between_two_is_kept_all_the_same(tmp_path: Path) -> None:
    file = transcript(tmp_path / "s.jsonl")
    file.state(TITLE, customTitle="long " * STATE_EVERY)
    file.message("user", MESSAGE, tmp_path)
    file.message("user", MESSAGE, tmp_path)
    file.close()

    assert read(tmp_path / "s.jsonl").title == "long " * STATE_EVERY
    assert len(records(tmp_path / "s.jsonl")) < 6


def test_a_new_file_that_can_be_made_later_has_everything(tmp_path: Path) -> None:
    (tmp_path / "no").write_text("")
    told: list[str] = []
    file = transcript(tmp_path / "no" / "s.jsonl", told)
    first = file.message("user", MESSAGE, tmp_path)
    (tmp_path / "no").unlink()
    file.message("assistant", MESSAGE, tmp_path)
    file.close()

    kept = records(tmp_path / "no" / "s.jsonl")
    assert [record["parentUuid"] for record in kept] == [None, first]
    assert [text.rpartition("nothing is missing")[1] for text in told] == ["", "nothing is missing"]


def test_a_file_that_somebody_made_meanwhile_is_not_written_to(tmp_path: Path) -> None:
    (tmp_path / "no").write_text("")
    file = transcript(tmp_path / "no" / "s.jsonl", [])
    file.message("user", MESSAGE, tmp_path)
    (tmp_path / "no").unlink()
    (tmp_path / "no").mkdir()
    (tmp_path / "no" / "s.jsonl").write_text("{}\n")
    file.message("user", MESSAGE, tmp_path)
    file.close()

    assert (tmp_path / "no" / "s.jsonl").read_text() == "{}\n"


def test_a_session_whose_file_can_not_be_written_is_not_gone_on_with(tmp_path: Path) -> None:
    file = transcript(tmp_path / "s.jsonl")
    file.message("user", MESSAGE, tmp_path)
    file.close()
    size = (tmp_path / "s.jsonl").stat().st_size
    (tmp_path / "s.jsonl").unlink()
    (tmp_path / "s.jsonl").mkdir()

    with pytest.raises(SessionError, match=r"Is a directory.* --resume s --fork-session"):
        transcript(tmp_path / "s.jsonl").lock(size)
