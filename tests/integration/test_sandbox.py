"""A sandbox round commands, from the settings to what the model reads and the person is told."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from toolpost import (
    LaunchOptions,
    Question,
    Reply,
    Sandbox,
    SandboxPolicy,
    SessionError,
    ToolUse,
    Violation,
    Wrapped,
    tool,
)
from toolpost.testing import FakeModel, SessionHarness
from toolpost_core.api import open_session
from toolpost_sandbox_bubblewrap import Bubblewrap
from toolpost_service_commands import CommandsService
from toolpost_service_confinement import ConfinementService
from toolpost_tool_bash import Bash

MISSING = Bubblewrap().unusable() if sys.platform == "linux" else "bubblewrap is for Linux"
needs_sandbox = pytest.mark.skipif(MISSING is not None, reason=str(MISSING))


class Project:
    """A project whose sessions run one command with given settings."""

    def __init__(self, root: Path) -> None:
        self.folder = root / "project"
        self.home = root / "home"
        self.folder.mkdir()
        self.home.mkdir()
        self.questions: list[Question] = []
        self.notices: list[str] = []

    async def run(
        self,
        command: str,
        *,
        settings: Mapping[str, Any] | None = None,
        asks: bool = False,
        path: str = os.environ["PATH"],
        timeout: int = 0,
        **sandbox: Any,
    ) -> tuple[str, str]:
        """Return what the model reads, and what was decided and why."""
        leaves = {"dangerouslyDisableSandbox": True} if sandbox.pop("leaves", False) else {}
        more = {"timeout": timeout} if timeout else {}
        document = {"sandbox": {"enabled": True, **sandbox}, **(settings or {})}

        async def yes(question: Question) -> Reply:
            self.questions.append(question)
            return Reply(allow=True)

        options = LaunchOptions(cwd=self.folder, settings=json.dumps(document), persist=False)
        env = {"PATH": path, "HOME": str(self.home)}
        async with open_session(options, yes if asks else None, env=env, need_model=False) as session:
            (result,) = await session.run_calls([ToolUse("toolu_1", "Bash", {"command": command, **leaves, **more})])
            self.notices = list(session.parts.notices)
        assert result.ruling is not None
        verdict = result.ruling.verdict
        return str(result.block["content"]), f"{verdict.behavior}: {verdict.reason}"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path.resolve())


PLACE = "readlink /proc/self/ns/mnt"


def is_inside(text: str) -> bool:
    own = os.readlink("/proc/self/ns/mnt")  # noqa: PTH115 - no path
    assert text.startswith("mnt:["), text
    return text.splitlines()[0] != own


@needs_sandbox
async def test_a_command_runs_inside_and_asks_nobody(project: Project) -> None:
    text, decided = await project.run(f"{PLACE} && echo x > new.txt")
    assert is_inside(text)
    assert decided == "allow: it runs in the sandbox"
    assert (project.folder / "new.txt").read_text() == "x\n"


@needs_sandbox
async def test_where_that_is_not_wanted_rules_decide_as_outside(project: Project) -> None:
    _, decided = await project.run("make all", autoAllowBashIfSandboxed=False)
    assert decided.startswith("deny: no rule allows it")


@needs_sandbox
async def test_where_files_are_as_outside_being_inside_allows_nothing(project: Project) -> None:
    _, decided = await project.run("make all", filesystem={"disabled": True})
    assert decided.startswith("deny: no rule allows it")


@needs_sandbox
async def test_plan_mode_asks_inside_too(project: Project) -> None:
    _, decided = await project.run("make all", settings={"permissions": {"defaultMode": "plan"}})
    assert decided.startswith("deny: ")


@needs_sandbox
@pytest.mark.parametrize(
    ("command", "settings", "expected"),
    [
        ("rm x", {"permissions": {"deny": ["Bash(rm:*)"]}}, "deny: rm x: Bash(rm:*)"),
        ("make x", {"permissions": {"ask": ["Bash(make:*)"]}}, "deny: make x: Bash(make:*)"),
        ("rm -rf ~", {}, "deny: rm -rf ~: it would change"),
        ("echo x > .git/config", {}, "deny: "),
    ],
)
async def test_rules_and_protected_places_hold_inside_too(
    project: Project, command: str, settings: dict[str, Any], expected: str
) -> None:
    _, decided = await project.run(command, settings=settings)
    assert decided.startswith(expected)


@needs_sandbox
async def test_leaving_the_sandbox_is_asked_about(project: Project) -> None:
    text, _ = await project.run(PLACE, leaves=True, asks=True)
    assert not is_inside(text)
    assert [question.decision.reason for question in project.questions] == ["it is to run outside of the sandbox"]


@needs_sandbox
async def test_where_nothing_may_leave_the_wish_is_passed_over(project: Project) -> None:
    text, decided = await project.run(PLACE, leaves=True, allowUnsandboxedCommands=False)
    assert is_inside(text)
    assert decided == "allow: it runs in the sandbox"


@needs_sandbox
async def test_an_excluded_command_runs_outside_under_the_ordinary_rules(project: Project) -> None:
    excluded: dict[str, Any] = {"excludedCommands": ["readlink *", "docker *"]}
    allowed = {"permissions": {"allow": ["Bash(readlink:*)"]}}
    text, _ = await project.run(PLACE, settings=allowed, **excluded)
    assert not is_inside(text)
    _, decided = await project.run("docker run x", **excluded)
    assert decided.startswith("deny: no rule allows it")


@needs_sandbox
async def test_a_line_that_is_excluded_in_part_stays_inside_and_is_asked_about(project: Project) -> None:
    text, _ = await project.run(f"{PLACE} && make -v | head -1", asks=True, excludedCommands=["make *"])
    assert is_inside(text)
    assert len(project.questions) == 1


@needs_sandbox
async def test_what_was_held_back_is_told_to_the_model(project: Project) -> None:
    text, _ = await project.run(
        "touch /etc/none; curl -sS -m 5 http://a.example/ ; true", network={"allowedDomains": ["b.example"]}
    )
    told = text.partition("<sandbox_violations>\n")[2].splitlines()
    assert told == [
        "connect a.example:80: neither sandbox.network.allowedDomains nor a rule WebFetch(domain:...) allows it",
        "write /etc/none: it is read-only in the sandbox; the project and $TMPDIR are not",
        "</sandbox_violations>",
    ]


async def test_without_a_sandbox_it_is_said_once_and_commands_ask_as_ever(project: Project, tmp_path: Path) -> None:
    off = {"plugins": {"bubblewrap": False, "seatbelt": False}}
    _, decided = await project.run("make all", settings=off)
    assert decided.startswith("deny: no rule allows it")
    told = [text for text in project.notices if "sandbox" in text]
    assert len(told) == 1
    assert "commands run without one" in told[0]
    assert "pip install toolpost" in told[0]


async def test_a_session_that_must_have_one_does_not_start_without(project: Project) -> None:
    off = {"plugins": {"bubblewrap": False, "seatbelt": False}}
    with pytest.raises(SessionError, match="no session starts"):
        await project.run("true", settings=off, failIfUnavailable=True)


@needs_sandbox
async def test_without_the_service_that_says_what_is_allowed_nothing_is_started(project: Project) -> None:
    text, _ = await project.run("touch new.txt", settings={"plugins": {"confinement": False}})
    assert "'Confinement'" in text
    assert not (project.folder / "new.txt").exists()


class Marking(Sandbox):
    """A stranger's sandbox: it only leaves a mark."""

    platform = sys.platform

    def unusable(self) -> str | None:
        return None

    async def wrap(self, argv: Sequence[str], env: Mapping[str, str], policy: SandboxPolicy) -> Wrapped:
        async def finish() -> Sequence[Violation]:
            return (Violation("other", "nothing", "it was only watched"),)

        return Wrapped(argv=tuple(argv), env={**env, "HELD_BY": "a stranger"}, finish=finish)


def test_a_strangers_sandbox_takes_the_place_of_ours_and_the_person_hears_of_what_it_held_back(tmp_path: Path) -> None:
    model = FakeModel(ToolUse("toolu_1", "Bash", {"command": 'echo "$HELD_BY"'}), "Done.")
    plugins = [Bash(), CommandsService(), ConfinementService(), Marking()]
    found = SessionHarness(tmp_path, model, plugins=plugins, settings={"sandbox": {"enabled": True}}).run("go")
    told = "a stranger\n<sandbox_violations>\nother nothing: it was only watched\n</sandbox_violations>"
    assert found.results == {"toolu_1": told}
    assert found.notices == ["The sandbox held back 1 of what the command tried."]


class Halting(Marking):
    """A sandbox that works here in a weaker form only."""

    def unusable(self) -> str | None:
        return "this is a container"

    def weaker(self) -> Sandbox | None:
        return Marking()


@pytest.mark.parametrize(("allowed", "held_by"), [(True, "a stranger"), (False, "")])
def test_a_weaker_form_is_taken_where_the_settings_allow_it_and_it_is_said(
    tmp_path: Path, allowed: bool, held_by: str
) -> None:
    model = FakeModel(ToolUse("toolu_1", "Bash", {"command": 'echo "[$HELD_BY]"'}), "Done.")
    plugins = [Bash(), CommandsService(), ConfinementService(), Halting()]
    sandbox = {"enabled": True, "enableWeakerNestedSandbox": allowed}
    found = SessionHarness(tmp_path, model, plugins=plugins, settings={"sandbox": sandbox}).run("go")
    assert found.results["toolu_1"].startswith(f"[{held_by}]")
    said = next(notice for notice in found.notices if "this is a container" in notice)
    assert ("the weaker one" in said) is allowed


@needs_sandbox
@pytest.mark.parametrize("signal", ["INT", "TERM"])
async def test_a_command_that_is_ended_may_clean_up(project: Project, signal: str) -> None:
    others = "trap '' INT; " if signal == "TERM" else ""
    waits = f"{others}trap 'echo cleaned > state; exit' {signal}; while :; do sleep 0.02; done"
    text, _ = await project.run(waits, timeout=400)
    assert "timed out" in text
    assert (project.folder / "state").read_text() == "cleaned\n"


@needs_sandbox
async def test_a_hook_has_files_and_processes_as_outside_and_the_sandboxs_network(project: Project) -> None:
    told = project.home / "told.txt"
    hook = f"(readlink /proc/self/ns/pid; readlink /proc/self/ns/net) > {told}"
    hooks = {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": hook}]}]}
    await project.run("true", settings={"hooks": hooks})
    outside = [os.readlink(f"/proc/self/ns/{kind}") for kind in ("pid", "net")]  # noqa: PTH115 - no path
    pid, net = told.read_text().splitlines()
    assert pid == outside[0]
    assert net != outside[1]


@needs_sandbox
async def test_a_hook_that_can_not_be_held_in_does_not_run(project: Project) -> None:
    told = project.home / "told.txt"
    hooks = {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": f"touch {told}"}]}]}
    await project.run("true", settings={"hooks": hooks, "plugins": {"confinement": False}})
    assert not told.exists()


@tool(read_only=False)
async def WebFetch(url: str, prompt: str) -> str:  # noqa: N802 - a tool's name
    """Fetch a page."""
    return ""


@needs_sandbox
@pytest.mark.parametrize("tools", [[WebFetch], []], ids=["with the tool", "without it"])
def test_a_host_that_nothing_names_is_asked_about_once_as_webfetch_would(tmp_path: Path, tools: list[Any]) -> None:
    asked: list[str] = []

    async def answer(question: Question) -> Reply:
        asked.append(f"{question.request.tool_name} {question.request.tool_input['url']}")
        return Reply(allow="good" in asked[-1])

    urls = "http://good.invalid http://bad.invalid http://good.invalid/again http://bad.invalid"
    curl = f"for url in {urls}; do curl -sS -m 20 -o /dev/null -w '%{{http_code}} ' $url; done"
    model = FakeModel(ToolUse("toolu_1", "Bash", {"command": curl}), "Done.")
    plugins = [Bash(), *tools, CommandsService(), ConfinementService(), Bubblewrap()]
    harness = SessionHarness(
        tmp_path, model, plugins=plugins, allow=False, ask=answer, settings={"sandbox": {"enabled": True}}
    )
    found = harness.run("go")
    assert asked == ["WebFetch https://good.invalid/", "WebFetch https://bad.invalid/"]
    # A name that was allowed and is not there is no violation.
    assert found.results["toolu_1"].splitlines()[:3] == [
        "502 403 502 403",
        "<sandbox_violations>",
        "connect bad.invalid:80: it was not allowed when asked about",
    ]
