"""What a plugin does beside its work: printing between a run's lines, and asking for what it did not declare."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from fake_site import Site
from mock_messages_api import MockMessagesApi, Step, tool_use, turn

TOOLPOST = str(Path(sys.executable).with_name("toolpost"))
LIMIT = 60.0
LOUD = """
    import os
    import subprocess
    import sys

    from toolpost import tool

    print("loud: imported")
    kept = sys.stdout

    @tool(read_only=True)
    async def loud() -> str:
        "Be loud."
        print("loud: print")
        print("loud: kept stream", file=kept)
        os.write(1, b"loud: descriptor\\n")
        subprocess.run([sys.executable, "-c", "print('loud: child')"])
        return "done"
"""
READER = """
    from toolpost import ToolContext, tool

    @tool(read_only=True)
    async def peek(path: str, ctx: ToolContext) -> str:
        "Peek into a file."
        return (await ctx.files.load(ctx.resolve(path))).text
"""


class Place:
    """A project, a home, plugins beside the standard set, and how to run the program there."""

    def __init__(self, folder: Path) -> None:
        self.project, self.state = folder / "project", folder / "state"
        self.project.mkdir()
        self.state.mkdir()
        (folder / "site").mkdir()
        self.site = Site(folder / "site")
        self._env = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "TOOLPOST_CONFIG_DIR": str(self.state),
            "PYTHONPATH": str(self.site.folder),
            "ANTHROPIC_API_KEY": "test",
            "PYTHONDONTWRITEBYTECODE": "1",
        }

    def tool(self, name: str, code: str, declares: str | None = None) -> Path:
        """Install a tool plugin and turn it on."""
        return self.install(name, "tools", code, declares)

    def install(self, name: str, group: str, code: str, declares: str | None = None) -> Path:
        """Install a plugin and turn it on."""
        self.site.install(f"acme-{name}", entries={group: {name: f"acme_{name}:{name}"}})
        (self.state / "settings.json").write_text(json.dumps({"plugins": {name: True}}), encoding="utf-8")
        return self.site.package(f"acme_{name}", code, declares)

    def run(self, *args: str, script: tuple[Step, ...] = ()) -> subprocess.CompletedProcess[str]:
        with MockMessagesApi(script).run_in_thread() as api:
            env = {**self._env, "ANTHROPIC_BASE_URL": api.url}
            return subprocess.run(
                [TOOLPOST, *args],
                cwd=self.project,
                env=env,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=LIMIT,
            )

    def result_of(self, name: str, input: dict[str, Any]) -> dict[str, Any]:
        """Run one call, and return its result as the model read it."""
        script: tuple[Step, ...] = (turn(tool_use(name, input)), "Done.")
        done = self.run("-p", "go", "--output-format", "stream-json", "--verbose", script=script)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        (found,) = [line["message"]["content"][0] for line in lines if line["type"] == "user"]
        block: dict[str, Any] = found
        return block


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path.resolve())


@pytest.mark.requirement("plugins.printing_stays_out")
@pytest.mark.parametrize("output_format", ["json", "stream-json", "text"])
def test_what_a_plugin_prints_does_not_come_between_the_lines_of_a_run(place: Place, output_format: str) -> None:
    place.tool("loud", LOUD)
    script: tuple[Step, ...] = (turn(tool_use("loud", {})), "Done.")
    done = place.run(
        "-p", "go", "--allowed-tools", "loud", "--output-format", output_format, "--verbose", script=script
    )

    if output_format == "text":
        assert done.stdout == "Done.\n"
    else:
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        assert lines[-1]["result"] == "Done."
    for what in ("imported", "print", "kept stream", "descriptor", "child"):
        assert f"loud: {what}\n" in done.stderr


SOURCE = """
    import os

    from toolpost import SettingsSource

    print("source: imported")
    os.write(1, b"source: descriptor\\n")

    class Source(SettingsSource):
        def documents(self, project, home, env):
            print("source: print")
            os.write(1, b"source: descriptor of a call\\n")
            return ()

    source = Source()
"""


@pytest.mark.requirement("plugins.printing_stays_out")
def test_what_a_source_of_settings_prints_before_the_run_begins_stays_out_of_it(place: Place) -> None:
    place.install("source", "settings_sources", SOURCE)
    done = place.run("-p", "go", "--output-format", "json", script=("Done.",))
    assert json.loads(done.stdout)["result"] == "Done."
    for what in ("imported", "print"):
        assert f"toolpost: the plugin 'source' (acme-source) printed: source: {what}\n" in done.stderr
    assert "source: descriptor\n" in done.stderr
    assert "source: descriptor of a call\n" in done.stderr


@pytest.mark.requirement("plugins.undeclared_services_are_withheld")
def test_a_service_that_was_not_declared_is_not_handed_out_and_the_error_has_the_line_to_add(place: Place) -> None:
    folder = place.tool("peek", READER, '[capabilities]\nservices = ["processes"]\n')
    (place.project / "a.txt").write_text("inside", encoding="utf-8")
    refused = place.result_of("peek", {"path": "a.txt"})

    assert refused["is_error"]
    for part in ("'peek' (acme-peek)", "the service Files", str(folder / "toolpost.toml"), '["processes", "files"]'):
        assert part in refused["content"]

    (folder / "toolpost.toml").write_text('[capabilities]\nservices = ["processes", "files"]\n', encoding="utf-8")
    assert place.result_of("peek", {"path": "a.txt"})["content"] == "inside"


def test_without_the_file_every_service_is_handed_out(place: Place) -> None:
    place.tool("peek", READER)
    (place.project / "a.txt").write_text("inside", encoding="utf-8")
    assert place.result_of("peek", {"path": "a.txt"})["content"] == "inside"


@pytest.mark.requirement("plugins.lock_refuses_changes")
def test_a_plugin_that_changed_since_it_was_locked_is_refused_until_it_is_locked_again(place: Place) -> None:
    folder = place.tool("peek", READER)
    (place.project / "a.txt").write_text("inside", encoding="utf-8")
    assert place.run("plugins", "lock").returncode == 0
    assert place.run("plugins", "verify").returncode == 0
    assert place.result_of("peek", {"path": "a.txt"})["content"] == "inside"

    with (folder / "__init__.py").open("a", encoding="utf-8") as code:
        code.write("\n\nMORE = 1\n")
    verified = place.run("plugins", "verify", "--json")
    assert verified.returncode == 1
    assert json.loads(verified.stdout)["changed"] == {"acme-peek": ["acme_peek/__init__.py changed"]}
    assert "No such tool" in place.result_of("peek", {"path": "a.txt"})["content"]
    told = place.run("-p", "go", script=("Done.",)).stderr
    assert "'peek' (acme-peek 1.0) was refused: it is not what was locked: acme_peek/__init__.py changed" in told

    assert place.run("plugins", "lock").returncode == 0
    assert place.result_of("peek", {"path": "a.txt"})["content"] == "inside"


@pytest.mark.requirement("plugins.gates_are_never_missing")
def test_no_session_starts_without_a_gate_that_the_lock_refuses(place: Place) -> None:
    place.run("plugins", "lock")
    file = place.project / ".toolpost" / "plugins.lock"
    lock = json.loads(file.read_text(encoding="utf-8"))
    gate = next(name for name in lock["plugins"] if "permission-resolver-rules" in name)
    lock["plugins"][gate]["version"] = "0.0.1"
    file.write_text(json.dumps(lock), encoding="utf-8")
    done = place.run("--trust", "-p", "go", script=("Done.",))

    assert done.returncode == 1
    assert f"({gate}), which holds calls back, is refused, and no session starts without it" in done.stderr


NOSY = """
    import socket
    import subprocess
    from contextlib import suppress
    from pathlib import Path

    from toolpost import tool

    @tool(read_only=True)
    async def nosy(folder: str) -> str:
        "Do what was not declared."
        for name in ("a", "b"):
            (Path(folder) / name).write_text("x")
        with suppress(OSError), socket.socket() as own:
            own.bind(("127.0.0.1", 0))
        subprocess.run(["true"])
        return "done"
"""


@pytest.mark.parametrize(
    ("declares", "said"),
    [
        ("[capabilities]\nnetwork = true\n", {"writes": 'filesystem = "write"', "starts a process": "process = true"}),
        (None, dict.fromkeys(("writes", "starts a process", "uses the network"), "declares nothing")),
        ('[capabilities]\nfilesystem = "write"\nnetwork = true\nprocess = true\n', {}),
    ],
)
def test_debug_plugins_tells_once_what_a_plugin_did_and_did_not_declare(
    place: Place, declares: str | None, said: dict[str, str]
) -> None:
    place.tool("nosy", NOSY, declares)
    script: tuple[Step, ...] = (turn(tool_use("nosy", {"folder": str(place.project)})), "Done.")
    done = place.run("--debug", "plugins", "-p", "go", "--allowed-tools", "nosy", script=script)
    told = [line for line in done.stderr.splitlines() if "debug:" in line]

    assert done.stdout == "Done.\n"
    assert len(told) == len(said)
    for what, line in said.items():
        (text,) = [text for text in told if f"'nosy' (acme-nosy) {what} (" in text]
        assert line in text
        assert "acme_nosy/__init__.py:" in text
