"""`ToolContext`: a tool's only handle on the world."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, TypeVar

from toolpost._frozen import frozen
from toolpost.paths import DecidedPaths
from toolpost.reads import ReadState
from toolpost.stash import Stash

if TYPE_CHECKING:
    from toolpost.messages import Message
    from toolpost.permissions import PermissionMode, PermissionScope
    from toolpost.services import (
        Agents,
        Files,
        Http,
        Mcp,
        Permissions,
        Processes,
        Services,
        Skills,
        Tasks,
    )

S = TypeVar("S")

AbortReason: TypeAlias = Literal["user_cancel", "interrupt", "sibling_error", "rejected", "discard", "engine_stop"]
"""Why work is called off: the user cancelled; a new message came in; a sibling Bash failed; a person refused with
"stop"; a cut stream's calls are discarded; the session ends."""


class AbortSignal(Protocol):
    """Says when to stop. A tool that may run for over a second watches it."""

    @property
    def aborted(self) -> bool:
        """Whether to stop now."""

    @property
    def reason(self) -> AbortReason | None:
        """Why, once aborted."""

    async def wait(self) -> AbortReason:
        """Return once aborted."""

    def raise_if_aborted(self) -> None:
        """Raise Aborted if aborted."""


@frozen(kw_only=True)
class ToolOptions:
    """The session's settings as a tool may read them; `images` and `documents` say what the model takes."""

    model: str = ""
    images: bool = True
    documents: bool = True
    tools: Sequence[str] = ()
    interactive: bool = False
    verbose: bool = False
    debug: bool = False
    max_budget_usd: float | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)


@frozen(kw_only=True)
class Control:
    """Which call this is, when to stop, and where its path led when it was decided on."""

    abort: AbortSignal
    session_id: str = ""
    tool_use_id: str = ""
    agent_id: str | None = None
    agent_type: str | None = None
    chain_id: str = ""
    depth: int = 0
    messages: Sequence[Message] = ()
    paths: DecidedPaths = field(default_factory=DecidedPaths)


@frozen(kw_only=True)
class SharedState:
    """What the tools of a session share."""

    reads: ReadState = field(default_factory=ReadState)
    stash: Stash = field(default_factory=Stash)
    results_dir: Path | None = None


@frozen(kw_only=True)
class Interface:
    """Ways to tell the person something, beside the result."""

    notify: Callable[[str], None] = lambda _: None
    warn: Callable[[str], None] = lambda _: None


@frozen(kw_only=True)
class Interaction:
    """Ways to ask the person; None where nobody can be asked."""

    ask: Callable[[str, Sequence[str]], Awaitable[str]] | None = None


@frozen(kw_only=True)
class Seen:
    """What was given to the model already and must not be given twice."""

    instructions: set[Path] = field(default_factory=set)
    skill_dirs: set[Path] = field(default_factory=set)
    skills: set[str] = field(default_factory=set)


@frozen(kw_only=True)
class Limits:
    """Upper bounds, and facts about this call."""

    read_max_bytes: int = 10_000_000
    read_max_tokens: int = 25_000
    glob_max_results: int = 100
    user_modified: bool = False
    require_permission: bool = False


@frozen(kw_only=True, eq=False)
class ToolContext:
    """A frozen view of the session for one call.

    `cwd` is the current folder, `scope` the places that permissions depend on. A tool changes the context only by
    returning a `context_modifier`.
    """

    cwd: Path
    scope: PermissionScope
    control: Control
    services: Services
    env: Mapping[str, str] = field(default_factory=dict)
    options: ToolOptions = field(default_factory=ToolOptions)
    state: SharedState = field(default_factory=SharedState)
    interface: Interface = field(default_factory=Interface)
    interaction: Interaction = field(default_factory=Interaction)
    seen: Seen = field(default_factory=Seen)
    limits: Limits = field(default_factory=Limits)

    def service(self, protocol: type[S]) -> S:
        """Return a service that an enabled plugin offers; raises MissingService."""
        return self.services.get(protocol)

    def resolve(self, path: str | Path) -> Path:
        """Make a path of the model's absolute: `~` is the home folder, a relative path starts at `cwd`.

        Raises InvalidInput for a text that no file system takes for a path.
        """
        text = str(path)
        _check_path(text)
        if text == "~" or text.startswith("~/"):
            return self.scope.home / text[2:]
        return self.cwd / text

    def real(self, path: str | Path) -> Path:
        """Return where a path of the model's leads, all links followed; `ctx.files` goes there by itself.

        Raises InvalidInput as `resolve` does, StaleFile where it leads elsewhere than when the call was decided on.
        """
        return self.control.paths.real(self.resolve(path))

    @property
    def withheld(self) -> Callable[[Path], bool] | None:
        """Says of a file that the call comes upon whether permissions keep it back; None where they keep back nothing.

        Whatever reads files that nobody named, such as a search, leaves those out that are kept back, and asks nobody. The
        files are given by absolute paths; links in them are followed.
        """
        return self.control.paths.withheld

    @property
    def abort(self) -> AbortSignal:
        """Says when to stop."""
        return self.control.abort

    @property
    def mode(self) -> PermissionMode:
        """The permission mode in force."""
        return self.scope.mode

    @property
    def stash(self) -> Stash:
        """The session's stash."""
        return self.state.stash

    @property
    def reads(self) -> ReadState:
        """The files that the model has seen."""
        return self.state.reads

    @property
    def files(self) -> Files:
        """Reads and writes files; a path that the call was decided on must still lead to the same place."""
        from toolpost.services import Files

        files = self.services.get(Files)
        return files.bound(self.control.paths) if self.control.paths.places else files

    @property
    def processes(self) -> Processes:
        """Starts processes."""
        from toolpost.services import Processes

        return self.services.get(Processes)

    @property
    def permissions(self) -> Permissions:
        """Asks about nested actions."""
        from toolpost.services import Permissions

        return self.services.get(Permissions)

    @property
    def agents(self) -> Agents:
        """Runs sub-agents."""
        from toolpost.services import Agents

        return self.services.get(Agents)

    @property
    def tasks(self) -> Tasks:
        """Background tasks."""
        from toolpost.services import Tasks

        return self.services.get(Tasks)

    @property
    def mcp(self) -> Mcp:
        """MCP servers."""
        from toolpost.services import Mcp

        return self.services.get(Mcp)

    @property
    def skills(self) -> Skills:
        """Skills."""
        from toolpost.services import Skills

        return self.services.get(Skills)

    @property
    def http(self) -> Http:
        """HTTP requests."""
        from toolpost.services import Http

        return self.services.get(Http)


def _check_path(text: str) -> None:
    """Refuse what would be a ValueError or an OSError at another place in each tool."""
    problem = ""
    try:
        name = os.fsencode(text)
    except UnicodeEncodeError:
        problem = "it holds half a character (a lone surrogate)"
    else:
        if b"\0" in name:
            problem = "it holds a NUL character"
        elif len(name) > 4000 or any(len(part) > 255 for part in name.split(b"/")):
            problem = "it is too long; 255 bytes a name and 4000 in all are allowed"
    if problem:
        from toolpost.errors import InvalidInput

        raise InvalidInput(f"{text[:80]!r} can't be a path: {problem}. Give the path of a file or folder.")
