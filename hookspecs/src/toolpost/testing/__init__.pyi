"""The public names and where they are defined."""

from toolpost.testing._contract import PluginContract as PluginContract
from toolpost.testing._contract import exempt as exempt
from toolpost.testing._contract import finish as finish
from toolpost.testing.agents import AgentLoaderContract as AgentLoaderContract
from toolpost.testing.commands import PlainCommands as PlainCommands
from toolpost.testing.compaction import CompactionContract as CompactionContract
from toolpost.testing.compaction import conversation as conversation
from toolpost.testing.context import call_tool as call_tool
from toolpost.testing.context import make_context as make_context
from toolpost.testing.context import make_scope as make_scope
from toolpost.testing.doubles import AbortSwitch as AbortSwitch
from toolpost.testing.doubles import ProgressLog as ProgressLog
from toolpost.testing.doubles import ServiceMap as ServiceMap
from toolpost.testing.executors import ExecutorContract as ExecutorContract
from toolpost.testing.files import PlainFiles as PlainFiles
from toolpost.testing.frontends import FakeHost as FakeHost
from toolpost.testing.frontends import FakeSession as FakeSession
from toolpost.testing.frontends import FrontendContract as FrontendContract
from toolpost.testing.harness import SessionHarness as SessionHarness
from toolpost.testing.harness import SessionRecord as SessionRecord
from toolpost.testing.harness import record as record
from toolpost.testing.hook_runners import HookRunnerContract as HookRunnerContract
from toolpost.testing.journal import MemoryJournal as MemoryJournal
from toolpost.testing.lifecycle import LifecycleContract as LifecycleContract
from toolpost.testing.mcp import McpTransportContract as McpTransportContract
from toolpost.testing.model import FakeModel as FakeModel
from toolpost.testing.permissions import PermissionResolverContract as PermissionResolverContract
from toolpost.testing.processes import PlainProcesses as PlainProcesses
from toolpost.testing.prompt import ContextSourceContract as ContextSourceContract
from toolpost.testing.providers import ProviderContract as ProviderContract
from toolpost.testing.recordings import replays as replays
from toolpost.testing.sandboxes import SandboxContract as SandboxContract
from toolpost.testing.search import FakeHttp as FakeHttp
from toolpost.testing.search import SearchBackendContract as SearchBackendContract
from toolpost.testing.services import ServiceContract as ServiceContract
from toolpost.testing.settings import SettingsSourceContract as SettingsSourceContract
from toolpost.testing.skills import SkillLoaderContract as SkillLoaderContract
from toolpost.testing.tasks import InboxLog as InboxLog
from toolpost.testing.tasks import PlainTasks as PlainTasks
from toolpost.testing.tools import ToolContract as ToolContract

__all__: list[str]
