"""The kits of what lies round a turn find what they are there to find: each plugin here has one fault or two."""

from __future__ import annotations

import json
import random
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, Protocol, TextIO, cast

import pytest

from toolpost import (
    AgentDefinition,
    AgentExecutor,
    AgentLoader,
    Frontend,
    Host,
    McpTransport,
    PostToolUse,
    Sandbox,
    SandboxPolicy,
    SearchBackend,
    SearchHit,
    ServiceOffer,
    SessionScope,
    SettingsDocument,
    SettingsSource,
    Skill,
    SkillLoader,
    Wrapped,
    hookimpl,
    on,
    testing,
)
from toolpost.services import AgentRequest, AgentResult, Http
from toolpost.testing import (
    AgentLoaderContract,
    ExecutorContract,
    FrontendContract,
    LifecycleContract,
    McpTransportContract,
    SandboxContract,
    SearchBackendContract,
    ServiceContract,
    SettingsSourceContract,
    SkillLoaderContract,
)


class Talkative:
    """Answers an event with something else, and writes into it."""

    @on.post_tool_use
    def say(self, event: PostToolUse) -> Any:
        cast("dict[str, Any]", event.tool_input)["said"] = True
        return f"{event.tool_name} is done"


class Silent:
    """Hears nothing."""


class Cheerful(Frontend):
    """Says that all is well, whatever happened."""

    async def run(self, host: Host) -> int:
        async with host.open(host.options) as session:
            async for _ in session.submit("something else"):
                pass
        return 0


class Stubborn(AgentExecutor):
    """Runs another prompt, and does not let go."""

    isolation = "none"

    async def run(self, request: AgentRequest, scope: SessionScope, run_here: Any) -> AgentResult:
        try:
            return AgentResult(agent_id="mine", content=(await run_here(AgentRequest(prompt="x"), scope)).content)
        except BaseException:
            return AgentResult(agent_id="mine", content=())


class Open(Sandbox):
    """Holds nothing in, and loses the exit code."""

    platform = sys.platform

    def unusable(self) -> str | None:
        return None

    async def wrap(self, argv: Sequence[str], env: Mapping[str, str], policy: SandboxPolicy) -> Wrapped:
        return Wrapped(argv=("sh", "-c", '"$@"; true', "sh", *argv), env=env)


LEFT: list[TextIO] = []


class Hopeful(McpTransport):
    """Connects once, and to whatever it is told."""

    type = ""

    def connect(self, name: str, config: Mapping[str, Any], scope: SessionScope) -> AbstractAsyncContextManager[Any]:
        @asynccontextmanager
        async def connected() -> AsyncIterator[str]:
            mark = scope.cwd / "connected"
            assert not mark.exists()
            mark.touch()
            LEFT.append(mark.open())
            yield name

        return connected()


class Shuffled(SkillLoader):
    """Takes whatever there is, in any order."""

    async def load(self, scope: SessionScope) -> Sequence[Skill]:
        names = [file.stem for file in scope.cwd.glob("*.md")]
        return [Skill(name=name, description="", body=str(random.random())) for name in names]


class Strict(AgentLoader):
    """One broken file, and no agent is found."""

    async def load(self, scope: SessionScope) -> Sequence[AgentDefinition]:
        found = []
        for file in scope.cwd.glob("*.json"):
            given = json.loads(file.read_text(encoding="utf-8"))
            found.append(AgentDefinition(name=file.stem, description=given["description"], prompt=" "))
        return found


class Trusting(SearchBackend):
    """Takes the service's word for everything."""

    async def search(
        self, query: str, http: Http, *, allowed_domains: Sequence[str] = (), blocked_domains: Sequence[str] = ()
    ) -> Sequence[SearchHit]:
        answer = await http.request("GET", "https://search.example/?q=lathes")
        return [SearchHit("", line) for line in answer.body.decode().split()]


class Careless(SettingsSource):
    """Passes over a file that is broken, and can't do without one."""

    def documents(self, project: Path, home: Path, env: Mapping[str, str]) -> Sequence[SettingsDocument]:
        text = (project / "settings.toml").read_text(encoding="utf-8")
        values = {"model": {text}} if text.startswith("model") else {}
        return (SettingsDocument(level="project", values=values, file=Path("settings.toml")),)


class Clock(Protocol):
    """A service."""

    def now(self, zone: str) -> float:
        """Return the time."""

    def zones(self) -> Sequence[str]:
        """Return what there is."""


class Offers:
    """Offers one clock to all sessions, and it has no zones."""

    @hookimpl
    def services(self) -> Sequence[ServiceOffer[Any]]:
        return (ServiceOffer(Clock, lambda _: self),)

    def now(self) -> float:
        return 0.0


def _kit(base: type[Any], **body: Any) -> Any:
    return type("Kit", (base,), body)()


AGENTS = {"good.json": '{"description": "Looks."}', "bad.json": "{"}
LIFECYCLE = _kit(LifecycleContract, plugin=Talkative())
SILENT = _kit(LifecycleContract, plugin=Silent())
FRONTEND = _kit(FrontendContract, plugin=Cheerful)
EXECUTOR = _kit(ExecutorContract, plugin=Stubborn)
SANDBOX = _kit(SandboxContract, plugin=Open)
TRANSPORT = _kit(McpTransportContract, plugin=Hopeful, config={}, config_dead={})
SKILLS = _kit(
    SkillLoaderContract,
    plugin=Shuffled,
    files={"a.md": "A", "broken.md": ""},
    expected=["a"],
    broken=["broken.md"],
)
AGENT_LOADER = _kit(AgentLoaderContract, plugin=Strict, files=AGENTS, expected=["good"])
QUIET = _kit(AgentLoaderContract, plugin=Strict, files={}, expected=[], broken=["bad.json"])
VAGUE = _kit(AgentLoaderContract, plugin=Strict, files={"good.json": AGENTS["good.json"]}, expected=["good"])
SEARCH = _kit(SearchBackendContract, plugin=Trusting, body=b"https://a.example/1 https://b.example/2")
SETTINGS = _kit(
    SettingsSourceContract, plugin=Careless, files={"settings.toml": "model"}, broken={"settings.toml": "]["}
)
SERVICE = _kit(ServiceContract, plugin=Offers(), protocols=[Clock])
NO_SERVICE = _kit(ServiceContract, plugin=Silent(), protocols=[Clock])
FAULTS = [
    (LIFECYCLE, "test_its_answers_fit_their_events"),
    (LIFECYCLE, "test_the_events_are_left_as_they_were"),
    (SILENT, "test_it_hears_events_that_exist_with_their_argument"),
    (FRONTEND, "test_a_run_that_worked_exits_with_0_and_shows_the_answer"),
    (FRONTEND, "test_a_run_that_failed_exits_with_1_and_shows_the_error"),
    (EXECUTOR, "test_it_hands_on_the_request_and_hands_back_the_result"),
    (EXECUTOR, "test_what_the_agent_raises_comes_through"),
    (EXECUTOR, "test_cancelling_it_ends_the_agent"),
    (SANDBOX, "test_a_command_inside_writes_where_it_may_and_nowhere_else"),
    (SANDBOX, "test_a_hidden_folder_can_not_be_read"),
    (SANDBOX, "test_the_exit_code_comes_through"),
    (SANDBOX, "test_a_read_only_path_can_not_be_changed_or_made"),
    (SANDBOX, "test_without_network_nothing_on_this_machine_is_reached"),
    (TRANSPORT, "test_it_says_which_type_it_connects"),
    (TRANSPORT, "test_a_connection_opens_and_closes_more_than_once"),
    (TRANSPORT, "test_leaving_a_connection_leaves_nothing_behind"),
    (TRANSPORT, "test_a_server_that_is_not_there_is_an_error_that_is_explained"),
    (SKILLS, "test_it_finds_what_is_there_and_passes_over_what_is_broken"),
    (SKILLS, "test_each_skill_says_what_it_is_for"),
    (SKILLS, "test_what_is_broken_is_reported_by_name"),
    (SKILLS, "test_loading_twice_gives_the_same"),
    (AGENT_LOADER, "test_it_finds_what_is_there_and_passes_over_what_is_broken"),
    (QUIET, "test_what_is_broken_is_reported_by_name"),
    (VAGUE, "test_each_agent_says_what_it_is_for"),
    (SEARCH, "test_it_finds_the_hits_of_an_answer"),
    (SEARCH, "test_it_asks_the_service_for_the_query"),
    (SEARCH, "test_blocked_and_allowed_domains_are_kept"),
    (SEARCH, "test_a_service_that_fails_is_a_failed_tool"),
    (SETTINGS, "test_its_documents_are_json_and_say_their_file"),
    (SETTINGS, "test_nothing_to_find_is_no_error"),
    (SETTINGS, "test_a_broken_file_is_named"),
    (SERVICE, "test_each_service_has_what_its_protocol_asks_for"),
    (SERVICE, "test_each_session_has_a_service_of_its_own"),
    (NO_SERVICE, "test_it_offers_its_services"),
]
EXPECTED = (AssertionError, pytest.fail.Exception, json.JSONDecodeError, FileNotFoundError, TypeError)
"""What a kit says itself, and what a plugin raises that should not."""


@pytest.mark.parametrize(("kit", "test"), FAULTS, ids=lambda value: value if isinstance(value, str) else "")
def test_the_fault_is_found(
    kit: Any, test: str, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    for name, text in kit.files.items():
        (folder / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(folder)
    method = getattr(kit, test)
    given = {"folder": folder, "tmp_path": tmp_path, "capfd": capfd}
    names = method.__code__.co_varnames[1 : method.__code__.co_argcount]
    with pytest.raises(EXPECTED):
        method(**{name: given[name] for name in names})


def test_every_kit_is_shown_to_find_a_fault() -> None:
    files = (Path(__file__), Path(__file__).with_name("test_contract_kits.py"))
    shown = "".join("".join(file.read_text(encoding="utf-8").split()) for file in files)
    kits = [name for name in testing.__all__ if name.endswith("Contract") and name != "PluginContract"]
    assert len(kits) == 16
    assert [name for name in kits if f"_kit({name}," not in shown] == []
