"""A plugin of any kind gets of a session what its package declares, and all where it declares nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from fake_site import Site
from mock_messages_api import MockMessagesApi

TOOLPOST = str(Path(sys.executable).with_name("toolpost"))
LISTENS = """
    from toolpost import hookimpl, on
    from toolpost.services import Files

    class Ears:
        @hookimpl
        def listeners(self, session):
            session.services.get(Files)
            session.report("ears: got it")
            return ()

    plugin = Ears()
"""
READS = """
    from toolpost import ContextSource, Section
    from toolpost.services import Files

    class Source(ContextSource):
        async def sections(self, scope):
            scope.services.get(Files)
            return (Section(name="motto", text="Measure twice."),)

    plugin = Source()
"""
RUNS = """
    from toolpost import HookAnswer, HookRunner
    from toolpost.services import Files

    class Runner(HookRunner):
        type = "acme"

        async def run(self, job, scope):
            scope.services.get(Files)
            return HookAnswer(status="blocked", reason=f"the runner got it: {'ACME_TOKEN' in scope.env}")

    plugin = Runner()
"""
MAKES = """
    from typing import Protocol

    from toolpost import ServiceOffer, hookimpl
    from toolpost.services import Files

    class Clock(Protocol): ...

    def make(scope):
        scope.services.get(Files)
        return object()

    class Offers:
        @hookimpl
        def services(self):
            return (ServiceOffer(Clock, make),)

    plugin = Offers()
"""
USES = """
    from acme_clock import Clock
    from toolpost import ToolContext, tool

    @tool(read_only=True)
    async def plugin(ctx: ToolContext) -> str:
        "Ask for the clock."
        ctx.services.get(Clock)
        return "the maker got it"
"""
SHOWS = """
    import json

    from toolpost import ToolContext, tool

    @tool(read_only=True)
    async def plugin(ctx: ToolContext) -> str:
        "Show names of the environment."
        return json.dumps(sorted(name for name in ctx.env if name.startswith(("ACME", "PATH"))))
"""


class Place:
    """A project, a home, plugins beside the standard set that are all on, and how to run the program there."""

    def __init__(self, folder: Path) -> None:
        self.project, self.state = folder / "project", folder / "state"
        for made in (self.project, self.state, folder / "site"):
            made.mkdir()
        self.site = Site(folder / "site")
        self.settings: dict[str, Any] = {"plugins": {}}
        self._env = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "TOOLPOST_CONFIG_DIR": str(self.state),
            "PYTHONPATH": str(self.site.folder),
            "ANTHROPIC_API_KEY": "test",
            "ACME_TOKEN": "secret",
            "ACME_TOKENIZER": "fast",
            "ACME_PASSWORD_FILE": "secret",
        }

    def install(self, name: str, group: str, code: str, declares: str | None) -> Path:
        """Install a plugin and turn it on; return the folder of its package."""
        self.site.install(f"acme-{name}", entries={group: {name: f"acme_{name}:plugin"}})
        self.settings["plugins"][name] = True
        return self.site.package(f"acme_{name}", code, declares)

    def run(self, *args: str, input: str = "") -> tuple[subprocess.CompletedProcess[str], list[Any]]:
        """Run the program; return how it ended and the requests that the model got."""
        (self.state / "settings.json").write_text(json.dumps(self.settings), encoding="utf-8")
        with MockMessagesApi(["Done."]).run_in_thread() as api:
            env = {**self._env, "ANTHROPIC_BASE_URL": api.url}
            done = subprocess.run(
                [TOOLPOST, *args], cwd=self.project, env=env, input=input, capture_output=True, text=True, timeout=60
            )
            return done, list(api.requests)

    def call(self, tool: str) -> dict[str, Any]:
        """Run one call of a tool; return what came of it."""
        done, _ = self.run("tool", "run", "--json", "--yes", input=json.dumps({"tool": tool, "input": {}}))
        found: dict[str, Any] = json.loads(done.stdout)
        return found


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path.resolve())


DECLARES = "[capabilities]\nprompt = true\n"
REFUSED = "asked for the service Files, which it does not declare"
declares = pytest.mark.parametrize(
    ("declared", "is_given"), [(DECLARES, False), (DECLARES + 'services = ["files"]\n', True), (None, True)]
)


@pytest.mark.requirement("plugins.undeclared_services_are_withheld")
@declares
def test_what_makes_listeners_gets_the_declared_services(place: Place, declared: str | None, is_given: bool) -> None:
    folder = place.install("ears", "lifecycle", LISTENS, declared)
    done, _ = place.run("-p", "go")
    assert done.stdout == "Done.\n"
    assert ("ears: got it" in done.stderr) is is_given
    assert (f"The plugin 'ears' (acme-ears) {REFUSED}" in done.stderr) is not is_given
    assert (str(folder / "toolpost.toml") in done.stderr) is not is_given


@pytest.mark.requirement("plugins.undeclared_services_are_withheld")
@declares
def test_a_source_of_the_prompt_gets_the_declared_services(place: Place, declared: str | None, is_given: bool) -> None:
    place.install("motto", "context", READS, declared)
    done, requests = place.run("-p", "go")
    assert done.stdout == "Done.\n"
    assert ("Measure twice." in json.dumps(requests[0].body)) is is_given
    assert (REFUSED in done.stderr) is not is_given


@pytest.mark.requirement("plugins.undeclared_services_are_withheld")
@declares
def test_a_runner_of_hooks_gets_what_its_own_package_declares(
    place: Place, declared: str | None, is_given: bool
) -> None:
    place.install("runner", "hook_runners", RUNS, declared)
    place.settings["hooks"] = {"UserPromptSubmit": [{"hooks": [{"type": "acme"}]}]}
    done, requests = place.run("-p", "go")
    said = done.stdout + done.stderr
    assert (f"the runner got it: {declared is None}" in said) is is_given
    assert (REFUSED in said) is not is_given
    assert bool(requests) is not is_given


@pytest.mark.requirement("plugins.undeclared_services_are_withheld")
@declares
def test_what_makes_a_service_gets_the_declared_ones(place: Place, declared: str | None, is_given: bool) -> None:
    place.install("clock", "services", MAKES, declared)
    place.install("uses", "tools", USES, None)
    found = place.call("plugin")
    assert ("the maker got it" in found["content"]) is is_given
    assert (f"The plugin 'clock' (acme-clock) {REFUSED}" in found["content"]) is not is_given


@pytest.mark.requirement("plugins.undeclared_prompt_and_secrets")
def test_a_source_that_does_not_declare_prompt_adds_nothing_and_is_named(place: Place) -> None:
    folder = place.install("motto", "context", READS, '[capabilities]\nservices = ["files"]\n')
    done, requests = place.run("-p", "go")
    assert done.stdout == "Done.\n"
    assert "Measure twice." not in json.dumps(requests[0].body)
    assert "'motto' (acme-motto) adds nothing to the prompt" in done.stderr
    assert f"{folder / 'toolpost.toml'}: prompt = true" in done.stderr


@pytest.mark.requirement("plugins.undeclared_prompt_and_secrets")
@pytest.mark.parametrize(
    ("declared", "shown"),
    [
        ("[capabilities]\n", ["ACME_TOKENIZER", "PATH"]),
        ("[capabilities]\nsecrets = true\n", ["ACME_PASSWORD_FILE", "ACME_TOKEN", "ACME_TOKENIZER", "PATH"]),
        (None, ["ACME_PASSWORD_FILE", "ACME_TOKEN", "ACME_TOKENIZER", "PATH"]),
    ],
)
def test_secrets_of_the_environment_are_for_those_that_declare_them(
    place: Place, declared: str | None, shown: list[str]
) -> None:
    place.install("shows", "tools", SHOWS, declared)
    found = place.call("plugin")
    assert [name for name in json.loads(found["content"]) if name in ("PATH",) or name.startswith("ACME")] == shown
