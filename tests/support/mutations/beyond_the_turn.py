"""How the rules of what lies round a turn are broken, most in plugins that `plugins new` wrote."""

from __future__ import annotations

from mutations.subject import Subject, swap, under
from toolpost.testing import (
    AgentLoaderContract,
    ExecutorContract,
    FrontendContract,
    McpTransportContract,
    SandboxContract,
    SearchBackendContract,
    ServiceContract,
    SettingsSourceContract,
    SkillLoaderContract,
)

OFFER = "ServiceOffer(Processes, lambda _: LocalProcesses())"
SERVICE = Subject(
    contract=ServiceContract,
    project="plugins/services/processes",
    opening="class ProcessesService(Plugin):",
    kit="TestProcesses",
    rules={
        "test_it_offers_its_services": swap(f"({OFFER},)", "()"),
        "test_each_service_has_what_its_protocol_asks_for": swap(
            "    async def start(", "    async def begin(", file="local.py"
        ),
        "test_each_session_has_a_service_of_its_own": swap(
            "lambda _: LocalProcesses()", "lambda _, shared=LocalProcesses(): shared"
        ),
    },
)

FRONTEND = Subject(
    contract=FrontendContract,
    project="plugins/frontends/headless",
    file="frontend.py",
    opening="class Headless(Frontend):",
    kit="TestHeadless",
    rules={
        "test_a_run_that_worked_exits_with_0_and_shows_the_answer": swap("1 if event.is_error else 0", "1"),
        "test_a_run_that_failed_exits_with_1_and_shows_the_error": swap("1 if event.is_error else 0", "0"),
        "test_it_leaves_no_session_open": swap(
            "            async with self._host.open(self._options) as door:\n",
            "            self.kept = self._host.open(self._options)\n"
            "            async with contextlib.nullcontext(await self.kept.__aenter__()) as door:\n",
        ),
    },
)

MCP_TRANSPORT = Subject(
    contract=McpTransportContract,
    project="mcp-transport",
    opening="class AcmeMcpTransport(McpTransport):",
    kit="TestAcmeMcpTransport",
    rules={
        "test_it_says_which_type_it_connects": swap('type = "acme_mcp_transport"', 'type = ""'),
        "test_a_connection_opens_and_closes_more_than_once": under(
            '        """Start the container; it ends when the context is left."""', "(scope.cwd / name).mkdir()"
        ),
        "test_leaving_a_connection_leaves_nothing_behind": under(
            '        """Start the container; it ends when the context is left."""',
            "type(self).log = open('log.txt', 'a')",
        ),
        "test_a_server_that_is_not_there_is_an_error_that_is_explained": swap(
            "raise SettingsError(", "raise KeyError("
        ),
    },
)

SKILL_LOADER = Subject(
    contract=SkillLoaderContract,
    project="skill-loader",
    opening="class AcmeSkillLoader(SkillLoader):",
    kit="TestAcmeSkillLoader",
    rules={
        "test_it_finds_what_is_there_and_passes_over_what_is_broken": swap("name=file.stem", "name=file.name"),
        "test_each_skill_says_what_it_is_for": swap("description=description", 'description=""'),
        "test_what_is_broken_is_reported_by_name": swap(
            'f"{file} is no skill: write a line on its use, then text."', '"A file is no skill."'
        ),
        "test_loading_twice_gives_the_same": swap("body=body", "body=f'{body} {id(object())} {time.monotonic_ns()}'"),
    },
)

AGENT_LOADER = Subject(
    contract=AgentLoaderContract,
    project="agent-loader",
    opening="class AcmeAgentLoader(AgentLoader):",
    also=under(
        '        """Return the agent."""',
        "for file in scope.cwd.glob('*.broken'): scope.report(f'{file} is no agent.')",
    ),
    kit="TestWithFiles",
    tests="""
class TestWithFiles(TestAcmeAgentLoader):
    files = {"agent.broken": ""}
    broken = ("agent.broken",)
""",
    rules={
        "test_it_finds_what_is_there_and_passes_over_what_is_broken": swap('name="reviewer"', 'name="critic"'),
        "test_each_agent_says_what_it_is_for": swap('"Reviews changes to code and reports mistakes."', '" "'),
        "test_what_is_broken_is_reported_by_name": swap("f'{file} is no agent.'", "'A file is no agent.'"),
        "test_loading_twice_gives_the_same": swap("prompt=PROMPT", "prompt=f'{PROMPT} {time.monotonic_ns()}'"),
    },
)

RUN_HERE = "return await run_here(request, replace(scope, cwd=Path(folder).resolve()))"
EXECUTOR = Subject(
    contract=ExecutorContract,
    project="executor",
    opening="class AcmeExecutor(AgentExecutor):",
    kit="TestAcmeExecutor",
    rules={
        "test_it_hands_on_the_request_and_hands_back_the_result": swap(
            "Path(folder).resolve()", "Path(folder).resolve() / 'missing'"
        ),
        "test_what_the_agent_raises_comes_through": swap(
            RUN_HERE,
            "try:\n"
            f"                {RUN_HERE}\n"
            "            except Exception as error:\n"
            "                return AgentResult(agent_id=str(error), content=())",
        ),
        "test_cancelling_it_ends_the_agent": swap(
            RUN_HERE, "return await asyncio.shield(run_here(request, replace(scope, cwd=Path(folder))))"
        ),
    },
)

SANDBOX = Subject(
    contract=SandboxContract,
    project="sandbox",
    opening="class AcmeSandbox(Sandbox):",
    kit="TestAcmeSandbox",
    rules={
        "test_a_command_inside_writes_where_it_may_and_nowhere_else": swap(
            '"--ro-bind", "/", "/"]', '"--bind", "/", "/"]'
        ),
        "test_a_read_only_path_can_not_be_changed_or_made": swap('("--ro-bind", path)', '("--bind", path)'),
        "test_a_hidden_folder_can_not_be_read": swap("(*missing, *policy.hidden)", "missing"),
        "test_without_network_nothing_on_this_machine_is_reached": swap("if not policy.network:", "if policy.network:"),
        "test_the_exit_code_comes_through": swap('"--", *argv)', '"--", "sh", "-c", \'"$@" || exit 1\', "sh", *argv)'),
    },
)

SEARCH_BACKEND = Subject(
    contract=SearchBackendContract,
    project="search-backend",
    opening="class AcmeSearchBackend(SearchBackend):",
    kit="TestAcmeSearchBackend",
    rules={
        "test_it_finds_the_hits_of_an_answer": swap('SearchHit(r["title"],', 'SearchHit("",'),
        "test_it_asks_the_service_for_the_query": swap('"q": query', '"q": ""'),
        "test_blocked_and_allowed_domains_are_kept": swap("if not _within(hit.url, blocked_domains)", "if True"),
        "test_a_service_that_fails_is_a_failed_tool": swap("(ValueError, KeyError, TypeError)", "KeyError"),
    },
)

SETTINGS_SOURCE = Subject(
    contract=SettingsSourceContract,
    project="settings-source",
    opening="class AcmeSettingsSource(SettingsSource):",
    kit="TestAcmeSettingsSource",
    rules={
        "test_its_documents_are_json_and_say_their_file": swap("file=file)", "file=Path(self.file))"),
        "test_nothing_to_find_is_no_error": swap("            return ()", "            raise"),
        "test_a_broken_file_is_named": swap('f"{file} can\'t be read as JSON: {error}"', '"It is no JSON."'),
    },
)
