"""Services: what one plugin offers another, asked for by Protocol.

    ctx.files                       the same as ctx.service(Files)
    ctx.service(MyProtocol)         any service that an enabled plugin offers

A plugin offers one by implementing the registration hook `services`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypeVar

if TYPE_CHECKING:
    from toolpost._hooks import Event
    from toolpost.context import AbortSignal
    from toolpost.hook_runners import HookRunner
    from toolpost.permissions import Decision
    from toolpost.session import SessionScope

S = TypeVar("S")
E = TypeVar("E")
O = TypeVar("O")  # noqa: E741


@dataclass(frozen=True)
class ServiceOffer(Generic[S]):
    """A service that a plugin offers: its Protocol, and how to make one for a session.

    `make` is called at most once a session, when the service is first asked for. If what it returns has an `aclose()`
    coroutine method, core awaits it at the session's end.
    """

    protocol: type[S]
    make: Callable[[SessionScope], S]


class Services(Protocol):
    """The services of one session."""

    def get(self, protocol: type[S]) -> S:
        """Return the service; raises MissingService, naming the plugins that would offer it."""


@dataclass(frozen=True)
class TextFile:
    """A text file as it was read: its text with line endings as `\\n`, and what is needed to write it back the same.

    `newline` is the ending that most lines have; `mixed` says that not all have it, and `raw_text` then keeps them.
    `digest` is the SHA-256 of the bytes.
    """

    path: Path
    text: str
    raw_text: str
    encoding: str
    bom: bool
    newline: Literal["\n", "\r\n", "\r"]
    mixed: bool
    digest: str
    mtime_ns: int
    size: int


class Files(Protocol):
    """Reads files, and replaces them so that a crash leaves the old one or the new one."""

    async def read_bytes(self, path: Path, *, limit: int | None = None) -> bytes:
        """Return the file's first `limit` bytes, or all of them. Raises OSError."""

    async def read_text(self, path: Path) -> str:
        """Return the text, decoded by its BOM, as UTF-8, or by what its bytes look like. Raises OSError."""

    async def load(self, path: Path) -> TextFile:
        """Return the text with all that is needed to write it back the same. Raises OSError."""

    async def write_text(
        self, path: Path, text: str, *, like: TextFile | None = None, expect: str | None = None
    ) -> TextFile:
        """Replace the file, or create it and its parent folders.

        `like` gives encoding, BOM and the meaning of `\\n`; without it UTF-8 is written and `\\n` stays. `expect` is
        the digest that the file must still have, checked with no await before the replacement. Mode, owner and
        symbolic links are kept. Raises StaleFile, OSError, UnicodeEncodeError (nothing is then written).
        """

    async def write_bytes(self, path: Path, data: bytes, *, expect: str | None = None) -> None:
        """Replace the file's bytes, or create it and its parent folders. Raises StaleFile, OSError."""


class Process(Protocol):
    """A running process, the leader of a group of its own."""

    @property
    def pid(self) -> int:
        """The process id."""

    @property
    def returncode(self) -> int | None:
        """The exit code, negative for a signal; None while it runs."""

    async def read(self, limit: int = 65536) -> bytes:
        """Return the next output, at most `limit` bytes; empty at the end of it."""

    async def read_errors(self, limit: int = 65536) -> bytes:
        """The same for standard error, unless that was merged into the output."""

    async def write(self, data: bytes) -> None:
        """Write to standard input and wait until it went out."""

    async def close_input(self) -> None:
        """Close standard input."""

    async def wait(self) -> int:
        """Wait for the end and return the exit code."""

    async def stop(self, *, grace: float = 0.0) -> None:
        """End the process and all that it started: SIGTERM, then after `grace` seconds SIGKILL. Never raises."""


@dataclass(frozen=True)
class Finished:
    """How a process ended. `dropped` is the number of output bytes over the limit that were not kept."""

    returncode: int
    output: bytes
    errors: bytes
    timed_out: bool = False
    dropped: int = 0


class Processes(Protocol):
    """Starts processes, and ends whatever they started, even if we are killed."""

    async def start(
        self,
        argv: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str] | None = None,
        stdin: bool = False,
        merge_errors: bool = False,
        pass_fds: Sequence[int] = (),
    ) -> Process:
        """Start a program; without `stdin` its standard input is empty. `env` replaces the environment.

        Raises OSError where the program or the folder is not there.
        """

    async def run(
        self,
        argv: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str] | None = None,
        input: bytes | None = None,
        timeout: float | None = None,
        max_output: int = 10_000_000,
        merge_errors: bool = False,
        abort: AbortSignal | None = None,
    ) -> Finished:
        """Run a program to its end. `timeout` in seconds; at the time-out, an abort or cancellation the tree is ended.

        Raises Aborted, OSError.
        """


class HookRunners(Protocol):
    """The runners of user-configured hooks; offered by core."""

    def get(self, type: str) -> HookRunner | None:
        """Return the runner of a hook type such as `command`; None where no enabled plugin has one."""


class Emitter(Protocol):
    """Sends lifecycle events; offered by core, for what happens inside a plugin."""

    async def emit(self, event: Event[E, O], value: E) -> O | None:
        """Call every listener and return their merged answer; None where nobody answered."""


class Permissions(Protocol):
    """Lets a tool ask about something that it is about to do within its call."""

    async def check(self, tool_name: str, tool_input: Mapping[str, Any]) -> Decision:
        """Return an Allow or a Deny, after asking a person where one must be."""


@dataclass(frozen=True, kw_only=True)
class AgentRequest:
    """A sub-agent to run."""

    prompt: str
    description: str = ""
    agent_type: str = "general"
    model: str | None = None
    isolation: Literal["none", "worktree", "remote"] = "none"
    background: bool = False


@dataclass(frozen=True, kw_only=True)
class AgentResult:
    """What a sub-agent came to; `content` holds text blocks, also where it ended early (`error` then says why)."""

    agent_id: str
    content: Sequence[Mapping[str, Any]]
    error: str | None = None
    total_tokens: int = 0
    tool_uses: int = 0
    duration: float = 0.0


class Agents(Protocol):
    """Runs sub-agents."""

    async def run(self, request: AgentRequest) -> AgentResult:
        """Run one to its end; cancelling the call aborts it."""


@dataclass(frozen=True, kw_only=True)
class TaskInfo:
    """A background task."""

    task_id: str
    kind: str
    description: str
    status: Literal["running", "completed", "failed", "stopped"]
    output_file: Path | None = None


class Tasks(Protocol):
    """Background work that outlives the call that started it."""

    def list(self) -> Sequence[TaskInfo]:
        """All tasks of the session, oldest first."""

    async def stop(self, task_id: str) -> TaskInfo:
        """Stop one. Raises ToolFailed for an unknown id."""


class Mcp(Protocol):
    """The MCP servers of the session."""

    async def call(self, server: str, tool: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Call a tool and return the result as MCP defines it. Raises ToolFailed."""

    def servers(self) -> Mapping[str, str]:
        """Server name to status: connected, pending, failed, needs-auth or disabled."""


class Skills(Protocol):
    """The skills that the session knows."""

    def names(self) -> Sequence[str]:
        """Their names, sorted."""

    async def load(self, name: str, arguments: str = "") -> str:
        """Return the text that the model gets. Raises ToolFailed for an unknown name."""


@dataclass(frozen=True)
class HttpResponse:
    """An answer; `body` is cut at the caller's limit."""

    status: int
    url: str
    headers: Mapping[str, str]
    body: bytes


class Http(Protocol):
    """Requests over HTTP under the session's network rules."""

    async def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
        timeout: float = 30.0,
        limit: int = 10_000_000,
    ) -> HttpResponse:
        """Send one request. Raises ToolFailed for a refused address, a network error or a time-out."""

    def stream(self, method: str, url: str, *, body: bytes | None = None) -> AsyncIterator[bytes]:
        """Send one request and yield its body as it comes."""
