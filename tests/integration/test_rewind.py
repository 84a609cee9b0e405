"""Files and conversations that go back to before a prompt, with the real loop, tools and files."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from forked import run_program
from mock_messages_api import MockMessagesApi, Request, Step, Turn, tool_use, turn

TOOLPOST = str(Path(sys.executable).with_name("toolpost"))
BYPASS = "--dangerously-skip-permissions"


class Place:
    """A project, a home, and how to run the program there."""

    def __init__(self, folder: Path) -> None:
        self.project = folder / "project"
        self.state = folder / "state"
        self.project.mkdir()
        self._home = folder / "home"

    def start(self, api: MockMessagesApi, *args: str) -> subprocess.Popen[str]:
        pipe = subprocess.PIPE
        return subprocess.Popen(
            [TOOLPOST, *args], cwd=self.project, env=self._env(api), stdin=pipe, stdout=pipe, stderr=pipe, text=True
        )

    def run(self, *args: str, script: Sequence[Step] = ()) -> Done:
        with MockMessagesApi(script).run_in_thread() as api:
            return run_program(args, cwd=self.project, env=self._env(api), input="")

    def _env(self, api: MockMessagesApi) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self._home),
            "TOOLPOST_CONFIG_DIR": str(self.state),
            "ANTHROPIC_BASE_URL": api.url,
            "ANTHROPIC_API_KEY": "test",
        }

    def prompt(self, text: str, *calls: tuple[str, dict[str, Any]], flags: Sequence[str] = ("-c",)) -> None:
        """Send a prompt whose turn makes the calls, one after the other."""
        done = self.run("-p", text, BYPASS, *flags, script=[*(turn(tool_use(*call)) for call in calls), "Done."])
        assert done.returncode == 0, done.stderr

    def records(self) -> list[dict[str, Any]]:
        path = max(self.state.glob("projects/*/*.jsonl"), key=lambda file: file.stat().st_mtime)
        return [json.loads(line) for line in path.read_text().splitlines()]

    def prompt_ids(self) -> list[str]:
        return [record["uuid"] for record in self.records() if "promptAt" in record]

    def rewind(self, message_id: str, *flags: str) -> Done:
        return self.run("-c", "--rewind-files", message_id, *flags)

    def file(self, name: str) -> Path:
        return self.project / name


Done = subprocess.CompletedProcess[str]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path.resolve())


def write(path: Path, content: str) -> tuple[str, dict[str, Any]]:
    return "Write", {"file_path": str(path), "content": content}


def edit(path: Path, old: str, new: str) -> tuple[str, dict[str, Any]]:
    return "Edit", {"file_path": str(path), "old_string": old, "new_string": new}


def read(path: Path) -> tuple[str, dict[str, Any]]:
    return "Read", {"file_path": str(path)}


def test_files_go_back_to_before_each_prompt(place: Place) -> None:
    notes, new = place.file("notes.txt"), place.file("sub/deep/new.txt")
    notes.write_text("one\ntwo\n")
    place.prompt("first", read(notes), edit(notes, "two", "2"), flags=())
    place.prompt("second", read(notes), edit(notes, "one", "1"), edit(notes, "2", "zwei"), write(new, "x\n"))
    first, second = place.prompt_ids()

    back = place.rewind(second)
    assert (back.returncode, notes.read_text()) == (0, "one\n2\n")
    assert not place.file("sub").exists()
    assert [line.split()[0] for line in back.stdout.splitlines()] == ["FILE", str(notes), str(new)]
    assert place.rewind(first).returncode == 0
    assert notes.read_text() == "one\ntwo\n"


def test_a_rewind_is_undone_by_its_own_id(place: Place) -> None:
    notes = place.file("notes.txt")
    place.prompt("make it", write(notes, "made\n"), flags=())
    (made,) = place.prompt_ids()

    back = place.rewind(made)
    assert not notes.exists()
    undo = back.stderr.split()
    assert undo[:4] == ["toolpost:", "to", "undo", "this:"]
    assert place.run(*undo[5:]).returncode == 0
    assert notes.read_text() == "made\n"


def test_a_dry_run_changes_nothing_and_json_tells_all(place: Place) -> None:
    notes = place.file("notes.txt")
    place.prompt("make it", write(notes, "one\ntwo\n"), flags=())
    (made,) = place.prompt_ids()

    done = place.rewind(made, "--dry-run", "--output-format", "json")
    assert json.loads(done.stdout) == {
        "canRewind": True,
        "filesChanged": [str(notes)],
        "insertions": 0,
        "deletions": 2,
        "files": [
            {"path": str(notes), "change": "created", "added": 0, "removed": 2, "byHand": None, "problem": None},
        ],
    }
    assert notes.exists()


def test_a_change_by_hand_is_refused_and_named_and_force_goes_over_it(place: Place) -> None:
    notes, other = place.file("notes.txt"), place.file("other.txt")
    place.prompt("make them", write(notes, "made\n"), write(other, "made\n"), flags=())
    (made,) = place.prompt_ids()
    notes.write_text("mine\n")

    refused = place.rewind(made)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert f"  {notes}: it was changed by hand" in refused.stderr
    assert str(other) not in refused.stderr
    assert (notes.read_text(), other.read_text()) == ("mine\n", "made\n")
    dry = place.rewind(made, "--dry-run")
    assert (dry.returncode, dry.stderr) == (1, refused.stderr)
    assert [line.split()[0] for line in dry.stdout.splitlines()] == ["FILE", str(notes), str(other)]
    as_json = place.rewind(made, "--output-format", "json")
    assert json.loads(as_json.stdout)["canRewind"] is False
    assert place.rewind(made, "--output-format", "json", "--dry-run").stdout == as_json.stdout
    assert place.rewind(made, "--dry-run", "--force").returncode == 0
    assert place.rewind(made, "--force").returncode == 0
    assert list(place.project.glob("*.txt")) == []


def test_what_a_command_names_is_covered(place: Place) -> None:
    old, gone, moved = place.file("old.txt"), place.file("gone.sh"), place.file("moved.txt")
    old.write_text("old\n")
    gone.write_text("gone\n")
    gone.chmod(0o755)
    commands = ("mv old.txt moved.txt && rm gone.sh", "echo x > new.txt; mkdir deep; cp moved.txt deep/", "cat new.txt")
    place.prompt("tidy up", *(("Bash", {"command": command}) for command in commands), flags=())
    assert sorted(path.name for path in place.project.iterdir()) == ["deep", "moved.txt", "new.txt"]
    (tidied,) = place.prompt_ids()

    assert place.rewind(tidied).returncode == 0
    assert sorted(path.name for path in place.project.rglob("*") if path.is_file()) == ["gone.sh", "old.txt"]
    assert (gone.read_text(), stat.S_IMODE(gone.stat().st_mode)) == ("gone\n", 0o755)
    assert not moved.exists()


def test_a_file_over_64_mb_says_that_it_cant_be_rewound(place: Place) -> None:
    big = place.file("big.txt")
    with big.open("wb") as file:
        file.truncate(64 * 1024 * 1024 + 1)
    place.prompt("empty it", ("Bash", {"command": "echo small > big.txt"}), flags=())
    (emptied,) = place.prompt_ids()

    done = place.rewind(emptied)
    assert "left as it is: it was over 64 MB" in done.stdout
    assert big.read_text() == "small\n"
    assert not list(place.state.glob("file-history/*/*"))


def test_the_id_of_any_message_of_a_turn_and_the_beginning_of_a_prompts_id_will_do(place: Place) -> None:
    notes = place.file("notes.txt")
    place.prompt("make it", write(notes, "1\n"), flags=())
    answer = place.records()[-1]
    place.prompt("go on", read(notes), edit(notes, "1", "2"))
    result = [r for r in place.records() if r["type"] == "user" and "toolUseResult" in r][-1]["uuid"]

    assert place.rewind(result).returncode == 0
    assert notes.read_text() == "1\n"
    assert place.rewind(place.prompt_ids()[0][:13]).returncode == 0
    assert not notes.exists()
    assert answer["type"] != "user"


def test_an_unknown_id_is_refused_with_those_that_are_known(place: Place) -> None:
    place.prompt("make it", write(place.file("notes.txt"), "1\n"), flags=())
    (made,) = place.prompt_ids()

    done = place.rewind("00000000-0000-4000-8000-000000000000")
    assert (done.returncode, done.stdout) == (1, "")
    assert f"  {made}  " in done.stderr
    assert "make it" in done.stderr


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (["--rewind-files", "x"], "goes with --resume or --continue"),
        (["--rewind-files", "x", "-c", "a prompt"], "takes no prompt"),
        (["--force", "-p", "hi"], "--force goes with --rewind-files"),
    ],
)
def test_flags_that_do_not_fit_are_refused(place: Place, flags: list[str], told: str) -> None:
    done = place.run(*flags)

    assert done.returncode == 2
    assert told in done.stderr


def test_a_fork_goes_back_on_its_own(place: Place) -> None:
    notes = place.file("notes.txt")
    notes.write_text("0\n")
    place.prompt("first", read(notes), edit(notes, "0", "1"), flags=())
    (first,) = place.prompt_ids()
    place.prompt("second", read(notes), edit(notes, "1", "2"), flags=("-c", "--fork-session"))
    second = place.prompt_ids()[-1]
    origin, fork = sorted(place.state.glob("file-history/*"), key=lambda folder: folder.stat().st_mtime)
    for copy in origin.iterdir():
        copy.unlink()

    assert place.run("--resume", fork.name, "--rewind-files", second).returncode == 0
    assert notes.read_text() == "1\n"
    assert place.run("--resume", fork.name, "--rewind-files", first).returncode == 0
    assert notes.read_text() == "0\n"


def test_without_the_setting_nothing_is_kept(place: Place) -> None:
    off = ("--settings", '{"fileCheckpointingEnabled": false}')
    place.prompt("make it", write(place.file("notes.txt"), "1\n"), flags=off)

    assert not place.state.joinpath("file-history").exists()
    done = place.rewind(place.prompt_ids()[0], *off)
    assert (done.returncode, "fileCheckpointingEnabled is false" in done.stderr) == (1, True)


def test_a_removed_folder_comes_back_with_modes_links_and_empty_folders(place: Place) -> None:
    private, script = place.file("private"), place.file("x.sh")
    private.joinpath("empty").mkdir(parents=True)
    private.joinpath("key").write_text("secret\n")
    private.joinpath("link").symlink_to("key")
    private.chmod(0o700)
    script.write_text("x\n")
    script.chmod(0o755)
    place.prompt("tidy up", ("Bash", {"command": "rm -rf private; chmod 600 x.sh"}), flags=())
    (tidied,) = place.prompt_ids()

    back = place.rewind(tidied)
    assert (stat.S_IMODE(private.stat().st_mode), stat.S_IMODE(script.stat().st_mode)) == (0o700, 0o755)
    assert (private.joinpath("link").readlink(), private.joinpath("empty").is_dir()) == (Path("key"), True)
    assert place.run(*back.stderr.split()[5:]).returncode == 0
    assert (private.exists(), stat.S_IMODE(script.stat().st_mode)) == (False, 0o600)


def test_what_a_killed_command_left_is_not_said_to_be_made_by_hand(place: Place) -> None:
    notes = place.file("notes.txt")
    killed = place.run(
        "-p", "go", BYPASS, script=[turn(tool_use("Bash", {"command": "echo x > notes.txt; kill -9 $PPID"}))]
    )
    assert killed.returncode == -signal.SIGKILL
    (prompt,) = place.prompt_ids()

    refused = place.rewind(prompt)
    assert (refused.returncode, "by hand" in refused.stderr) == (1, False)
    assert f"{notes}: it is not known what the session's last change left" in refused.stderr


def test_what_was_changed_before_a_kill_is_rewound(place: Place) -> None:
    notes = place.file("notes.txt")
    notes.write_text("0\n")
    script = [
        turn(tool_use(*read(notes))),
        turn(tool_use(*edit(notes, "0", "1"))),
        turn(tool_use("Bash", {"command": "kill -9 $PPID"})),
    ]
    killed = place.run("-p", "go", BYPASS, script=[*script, "Never said."])
    assert killed.returncode == -signal.SIGKILL
    assert notes.read_text() == "1\n"
    (prompt,) = place.prompt_ids()

    assert place.rewind(prompt, "--force").returncode == 0
    assert notes.read_text() == "0\n"


@pytest.mark.parametrize("cut", [1, 60, 300])
def test_a_record_that_a_kill_cut_off_costs_only_itself(place: Place, cut: int) -> None:
    notes = place.file("notes.txt")
    notes.write_text("0\n")
    place.prompt("first", read(notes), edit(notes, "0", "1"), flags=())
    place.prompt("second", read(notes), edit(notes, "1", "2"))
    first = place.prompt_ids()[0]
    (path,) = place.state.glob("projects/*/*.jsonl")
    whole = path.read_bytes()
    last = whole.rindex(b'{"type":"file-history-snapshot"')
    path.write_bytes(whole[: last + cut])

    assert place.rewind(first, "--force").returncode == 0
    assert notes.read_text() == "0\n"


def test_a_program_rewinds_by_the_uuid_that_it_gave_its_prompt(place: Place) -> None:
    notes, uuid = place.file("notes.txt"), "6f1f3f0e-0000-4000-8000-000000000001"
    message = {"role": "user", "content": "write it"}
    lines = [
        {"type": "user", "uuid": uuid, "message": message},
        *(
            {
                "type": "control_request",
                "request_id": f"r{number}",
                "request": {"subtype": "rewind_files", "user_message_id": target, **more},
            }
            for number, (target, more) in enumerate([(uuid, {"dry_run": True}), (uuid, {}), ("unknown", {})])
        ),
    ]
    streams = ("--input-format", "stream-json", "--output-format", "stream-json")
    with (
        MockMessagesApi([turn(tool_use(*write(notes, "a\nb\n"))), "Done."]).run_in_thread() as api,
        place.start(api, "-p", BYPASS, *streams) as process,
    ):
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(lines[0]) + "\n")
        process.stdin.flush()
        while json.loads(process.stdout.readline())["type"] != "result":
            pass
        process.stdin.write("".join(json.dumps(line) + "\n" for line in lines[1:]))
        process.stdin.close()
        answers = [json.loads(line)["response"]["response"] for line in process.stdout]
        assert process.wait(60) == 0
    done = {"canRewind": True, "filesChanged": [str(notes)], "insertions": 0, "deletions": 2}
    assert answers[:2] == [done, done]
    assert answers[2]["canRewind"] is False
    assert not notes.exists()


@pytest.mark.parametrize("delay", [0.0, 0.002, 0.005, 0.01, 0.02])
def test_a_kill_in_the_midst_of_a_change_leaves_nothing_that_cant_be_rewound(place: Place, delay: float) -> None:
    notes = place.file("notes.txt")
    notes.write_text("0\n" * 20_000)
    running: list[subprocess.Popen[str]] = []

    def last_edit(_: Request) -> Turn:
        threading.Timer(delay, running[0].kill).start()
        return turn(tool_use(*edit(notes, "1\n0\n", "1\n2\n")))

    script = [turn(tool_use(*read(notes))), turn(tool_use(*edit(notes, "0\n" * 20_000, "1\n" + "0\n" * 19_999)))]
    with MockMessagesApi([*script, last_edit, "Done."]).run_in_thread() as api:
        running.append(place.start(api, "-p", "go", BYPASS))
        running[0].communicate("", timeout=60)
    (prompt,) = place.prompt_ids()

    done = place.rewind(prompt)
    assert (done.returncode, done.stderr.count("by hand")) == (0, 0)
    assert notes.read_text() == "0\n" * 20_000
