"""The services and where they are defined."""

from toolpost.services.commands import Command as Command
from toolpost.services.commands import CommandEnd as CommandEnd
from toolpost.services.commands import Commands as Commands
from toolpost.services.confinement import Confinement as Confinement
from toolpost.services.files import Files as Files
from toolpost.services.files import TextFile as TextFile
from toolpost.services.history import FileHistory as FileHistory
from toolpost.services.history import FileRewind as FileRewind
from toolpost.services.history import Rewound as Rewound
from toolpost.services.history import TurnChanges as TurnChanges
from toolpost.services.http import Http as Http
from toolpost.services.http import HttpResponse as HttpResponse
from toolpost.services.journal import Journal as Journal
from toolpost.services.journal import SentPrompt as SentPrompt
from toolpost.services.kernel import Emitter as Emitter
from toolpost.services.kernel import HookLog as HookLog
from toolpost.services.kernel import HookRunners as HookRunners
from toolpost.services.kernel import Inbox as Inbox
from toolpost.services.kernel import Models as Models
from toolpost.services.kernel import Permissions as Permissions
from toolpost.services.kernel import PermissionState as PermissionState
from toolpost.services.kernel import Sandboxes as Sandboxes
from toolpost.services.kernel import SessionHooks as SessionHooks
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
from toolpost.services.work import TaskEnd as TaskEnd
from toolpost.services.work import TaskInfo as TaskInfo
from toolpost.services.work import Tasks as Tasks
from toolpost.services.work import TaskWork as TaskWork

__all__: list[str]
