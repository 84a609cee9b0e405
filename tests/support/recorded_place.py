"""Sessions that are recorded as processes, and played by other ones."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from mock_messages_api import MockMessagesApi, Step, tool_use

from toolpost_core.cli.played import open_recording
from toolpost_core.session.session import Session
from toolpost_frontend_headless.lines import StreamLines, encode

TOOLPOST = str(Path(sys.executable).with_name("toolpost"))
LIMIT = 60.0
STREAM = ("--output-format", "stream-json", "--verbose")
KEY = "sk-" + "test-a1b2c3d4e5f6g7h8i9"
TOKEN = "plain-value-0123456789"
BYPASS = ("--dangerously-skip-permissions",)


@contextmanager
def served(*script: Step) -> Iterator[MockMessagesApi]:
    """Serve a script."""
    with MockMessagesApi(script).run_in_thread() as api:
        yield api


def bash(command: str, name: str) -> Any:
    """Return a call of Bash."""
    return tool_use("Bash", {"command": command}, id=name)


class Lines:
    """What stream-json prints of the events of a session."""

    def __init__(self, session: Session) -> None:
        self._lines = StreamLines(session.id, session.parts.version, new_id=session.new_id)
        self.said = ""

    async def of(self, events: AsyncIterator[Any]) -> None:
        async for event in events:
            self.said += "".join(encode(line).decode() for line in self._lines.of(event))


class Driven:
    """A program that is driven over its standard input and output; `said` is all that it printed."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self.said = self.told = ""

    def prompt(self, text: str, **more: Any) -> None:
        self.write({"type": "user", "message": {"role": "user", "content": text}, **more})

    def control(self, subtype: str, **request: Any) -> None:
        self.write({"type": "control_request", "request_id": subtype, "request": {"subtype": subtype, **request}})
        self.until(f'"request_id":"{subtype}"')

    def until(self, part: str) -> str:
        """Read on to a line that holds a text."""
        assert self._process.stdout is not None
        while line := self._process.stdout.readline():
            self.said += line
            if part in line:
                return line
        raise AssertionError(f"no {part} came: {self.said}")

    def write(self, line: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(line) + "\n")
        self._process.stdin.flush()

    def end(self) -> None:
        """Close standard input and wait for the end."""
        said, self.told = self._process.communicate(timeout=LIMIT)
        self.said += said


class Place:
    """A project, its home, and a file for the recording."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.project, self.file = folder, folder / "project", folder / "session.jsonl"
        self.project.mkdir()
        (self.project / "notes.txt").write_text("one two\n")

    def settings(self, **values: Any) -> None:
        folder = self.project / ".toolpost"
        folder.mkdir(exist_ok=True)
        (folder / "settings.json").write_text(json.dumps(values))

    def record(self, api: MockMessagesApi, *args: str, **options: Any) -> subprocess.CompletedProcess[str]:
        return self.run("record", str(self.file), "--trust", *args, env=self.service(api), **options)

    def service(self, api: MockMessagesApi) -> dict[str, str]:
        return {"ANTHROPIC_BASE_URL": api.url, "ANTHROPIC_API_KEY": KEY, "DEPLOY_TOKEN": TOKEN}

    @contextmanager
    def driven(self, api: MockMessagesApi, *args: str) -> Iterator[Driven]:
        """Record a session that is driven over its standard input and output; it is over once the block is left."""
        streams = ("--input-format", "stream-json", *STREAM)
        command = [TOOLPOST, "record", str(self.file), "--trust", *streams, *args]
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        env = self.variables(self.service(api))
        process = subprocess.Popen(command, cwd=self.project, env=env, text=True, **pipes)
        driven = Driven(process)
        try:
            yield driven
            driven.end()
        finally:
            process.kill()
            process.wait()

    def replay(self, *args: str, **options: Any) -> subprocess.CompletedProcess[str]:
        return self.run("replay", str(self.file), *args, **options)

    def here(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Let `play` find in this process what a program of its own would be started with."""
        for name, value in self.variables({}).items():
            monkeypatch.setenv(name, value)

    async def play(self) -> tuple[str, str | None]:
        """Play in this process (`here`); returns what stream-json prints, and where it was not the recorded session."""
        with tempfile.TemporaryDirectory(dir=self.folder) as state:
            played = open_recording(self.file, Path(state), None, real_tools=False, output_format="stream-json")
            async with played.host.open(played.host.options) as session:
                lines = Lines(session)
                await lines.of(session.submit("what is played"))
        return lines.said, played.world.miss

    def run(self, *args: str, env: dict[str, str] | None = None, **options: Any) -> subprocess.CompletedProcess[str]:
        given = {"stdin": subprocess.DEVNULL, **options} if "input" not in options else options
        return subprocess.run(
            [TOOLPOST, *args],
            cwd=self.project,
            env=self.variables(env or {}),
            capture_output=True,
            text=True,
            timeout=LIMIT,
            **given,
        )

    def variables(self, more: dict[str, str]) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder / "home"),
            "TOOLPOST_CONFIG_DIR": str(self.folder / "state"),
            **more,
        }

    def entries(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.file.read_text().splitlines()]

    def rewrite(self, change: Callable[[dict[str, Any]], None]) -> None:
        """Change the recording, as if the session had been another one then."""
        entries = self.entries()
        for entry in entries:
            change(entry)
        self.file.write_text("".join(json.dumps(entry) + "\n" for entry in entries))

    def delay(self, late: Callable[[dict[str, Any]], bool], until: Callable[[dict[str, Any]], bool]) -> None:
        """Put entries behind another one, as if they had come that late then."""
        entries = self.entries()
        delayed = [entry for entry in entries if late(entry)]
        kept = [entry for entry in entries if not late(entry)]
        behind = next(place for place, entry in enumerate(kept) if until(entry)) + 1
        ordered = [*kept[:behind], *delayed, *kept[behind:]]
        self.file.write_text("".join(json.dumps(entry) + "\n" for entry in ordered))
