"""The services and where they are defined."""

from toolpost.services.files import Files as Files
from toolpost.services.files import TextFile as TextFile
from toolpost.services.http import Http as Http
from toolpost.services.http import HttpResponse as HttpResponse
from toolpost.services.kernel import Emitter as Emitter
from toolpost.services.kernel import HookRunners as HookRunners
from toolpost.services.kernel import Permissions as Permissions
from toolpost.services.offers import ServiceOffer as ServiceOffer
from toolpost.services.offers import Services as Services
from toolpost.services.processes import Finished as Finished
from toolpost.services.processes import Process as Process
from toolpost.services.processes import Processes as Processes
from toolpost.services.work import AgentRequest as AgentRequest
from toolpost.services.work import AgentResult as AgentResult
from toolpost.services.work import Agents as Agents
from toolpost.services.work import Mcp as Mcp
from toolpost.services.work import Skills as Skills
from toolpost.services.work import TaskInfo as TaskInfo
from toolpost.services.work import Tasks as Tasks

__all__: list[str]
