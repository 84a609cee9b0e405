"""Permissions: what may be asked, what may be answered, and the resolvers that answer.

Core combines the answers: deny (settings) > deny (hook) > ask (hook or settings) > allow, from whatever source. No
answer at all is an ask; an ask where nobody can be asked is a deny that says so.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Final,
    Literal,
    NamedTuple,
    NotRequired,
    Protocol,
    TypeAlias,
    TypedDict,
)

from toolpost._frozen import frozen
from toolpost._hooks import hookimpl
from toolpost._plugin import Plugin
from toolpost.errors import SettingsError

if TYPE_CHECKING:
    from toolpost.messages import Message
    from toolpost.session import SessionScope
    from toolpost.tools import Tool

Behavior: TypeAlias = Literal["allow", "ask", "deny"]
PermissionMode: TypeAlias = Literal["default", "plan", "acceptEdits", "dontAsk", "auto", "bypassPermissions"]
MODES: Final[tuple[PermissionMode, ...]] = ("default", "plan", "acceptEdits", "dontAsk", "auto", "bypassPermissions")

RuleSource: TypeAlias = Literal[
    "policySettings",
    "cliArg",
    "flagSettings",
    "localSettings",
    "projectSettings",
    "userSettings",
    "session",
    "command",
]
"""Where a rule came from, by the names that listings and permission updates use (compat.md 1.3)."""


@frozen()
class Rule:
    """One permission rule: `Tool` or `Tool(specifier)`.

    `root` is the folder that a path specifier beginning with one `/` is relative to: that of the rule's source.
    """

    tool: str
    specifier: str | None
    behavior: Behavior
    source: RuleSource = "session"
    file: str | None = None
    line: int | None = None
    root: Path | None = None

    def __str__(self) -> str:
        return self.tool if self.specifier is None else f"{self.tool}({self.specifier})"

    @classmethod
    def parse(
        cls,
        text: str,
        behavior: Behavior,
        source: RuleSource = "session",
        *,
        file: str | None = None,
        line: int | None = None,
        root: Path | None = None,
    ) -> Rule:
        """Read a rule as it stands in settings; `Tool(*)` and `Tool()` mean the whole tool.

        Raises SettingsError where the text is no rule.
        """
        name, bracket, rest = text.strip().partition("(")
        if not name.strip() or (bracket and not rest.endswith(")")) or (not bracket and ")" in name):
            raise SettingsError(
                f"{text!r} is not a permission rule. Write a tool's name, such as Bash, or a name with a specifier, "
                "such as Bash(git status:*) or Read(~/notes/**)."
            )
        specifier = rest[:-1] if bracket else None
        if specifier is not None and specifier.strip() in ("", "*"):
            specifier = None
        return cls(name.strip(), specifier, behavior, source, file, line, root)


@frozen(kw_only=True)
class PermissionScope:
    """The places and circumstances that a decision depends on; all paths are absolute and real.

    `directories` are the working directories, the project's own first. `results_dir` holds the session's own results
    that were too long for the conversation. `trusted` says whether the workspace is.
    """

    cwd: Path
    home: Path
    project: Path
    directories: tuple[Path, ...] = ()
    config_dir: Path | None = None
    results_dir: Path | None = None
    mode: PermissionMode = "default"
    interactive: bool = False
    trusted: bool = True
    sandbox: Mapping[str, Any] | None = None


@frozen()
class CommandPart:
    """One thing that a call would do, as rules see it: for a shell, one program with its arguments.

    `doubt` says why it can't be vouched for (it is then never allowed by a read-only table); empty if it can. `heads` are
    the words that a specifier which covers it may begin with (up to the first blank or `:*`), so that few of many rules
    need to be held against it; None where any may. `unseen` says that beyond `reads` or `writes` it opens files which only
    running it would name, so that rules about files can't be held against it. `perhaps` are files of which it may open any,
    to read or to change it, or none: what forbids one is a reason to ask. A path ending in `**` stands for all below,
    one in `**` and a pattern, as `src/**/*.py`, for what has such a name there.
    """

    text: str
    argv: tuple[str, ...] = ()
    read_only: bool = False
    reads: tuple[Path, ...] = ()
    writes: tuple[Path, ...] = ()
    doubt: str = ""
    heads: frozenset[str] | None = field(default=None, kw_only=True)
    unseen: frozenset[Literal["reads", "writes"]] = field(default=frozenset(), kw_only=True)
    perhaps: tuple[Path, ...] = field(default=(), kw_only=True)


class PermissionMatcher(Protocol):
    """A tool's own understanding of a call, made once a call; rules and hooks' `if` conditions are held against it.

    Every part must be allowed for the call to be; a deny or ask rule that hits any part hits the call. A `doubt` about
    the whole means that it could not be understood: never allowed, and denied where nobody can be asked.
    """

    @property
    def parts(self) -> Sequence[CommandPart]:
        """What the call would do, in order."""

    @property
    def doubt(self) -> str:
        """Why the call as a whole can't be understood; empty if it can."""

    def matches(self, part: CommandPart, specifier: str, behavior: Behavior) -> bool:
        """Whether a rule's specifier covers the part; deny and ask match more widely than allow."""


@frozen()
class PartVerdict:
    """The answer for one part of a call."""

    part: str
    behavior: Behavior
    rule: Rule | None = None
    reason: str = ""


class RuleUpdate(TypedDict):
    """One change to rules, mode or directories, as hooks, prompts and programs send it (compat.md 1.3)."""

    type: Literal["addRules", "replaceRules", "removeRules", "setMode", "addDirectories", "removeDirectories"]
    destination: str
    rules: NotRequired[list[dict[str, str]]]
    behavior: NotRequired[Behavior]
    mode: NotRequired[PermissionMode]
    directories: NotRequired[list[str]]


@frozen()
class Decision:
    """An opinion on one call; make an `Allow`, an `Ask` or a `Deny`.

    `rule` is the rule that it rests on, `parts` the verdicts on parts of a call, `suggestions` what a person could be
    offered to grant for good. `updated_input` replaces the input, which is then checked and decided on again; a deny of
    the input as it was stands.
    """

    reason: str = ""
    rule: Rule | None = field(default=None, kw_only=True)
    parts: tuple[PartVerdict, ...] = field(default=(), kw_only=True)
    suggestions: tuple[RuleUpdate, ...] = field(default=(), kw_only=True)
    updated_input: Mapping[str, Any] | None = field(default=None, kw_only=True)

    @property
    def behavior(self) -> Behavior:
        """`allow`, `ask` or `deny`."""
        raise TypeError("Decision is abstract: answer with Allow, Ask or Deny")


class Allow(Decision):
    """The call may run."""

    @property
    def behavior(self) -> Behavior:
        """`allow`."""
        return "allow"


class Ask(Decision):
    """A person decides."""

    @property
    def behavior(self) -> Behavior:
        """`ask`."""
        return "ask"


class Deny(Decision):
    """The call must not run; the model reads the reason."""

    @property
    def behavior(self) -> Behavior:
        """`deny`."""
        return "deny"


DENIED_IN_A_ROW: Final = 3
DENIED_IN_ALL: Final = 20


class Denials(NamedTuple):
    """How often calls of one kind were refused in this session, other than by a person."""

    in_a_row: int = 0
    in_all: int = 0

    @property
    def too_many(self) -> bool:
        """Whether it is time for a person to look."""
        return self.in_a_row >= DENIED_IN_A_ROW or self.in_all >= DENIED_IN_ALL


@frozen(kw_only=True)
class PermissionRequest:
    """One call that waits for a decision.

    `tool_input` is the input as it would run. `rules` are those of all sources. `path` is the file that the call is
    about, for tools that name one, as the input gives it, `real_path` where it leads: the call goes there or nowhere, so
    that is what to judge. `open_world` says that the call reaches beyond this machine. `described` is the tool's
    `classifier_input`. `messages` are the conversation, `session` what there is beside it, such as settings and services;
    both are missing where a decision is only explained. `denials` counts the refusals of calls of this kind so far.
    """

    tool_name: str
    tool_input: Mapping[str, Any]
    scope: PermissionScope
    rules: Sequence[Rule] = ()
    tool: Tool[Any] | None = None
    tool_use_id: str = ""
    read_only: bool = False
    destructive: bool = False
    open_world: bool = False
    path: str | None = None
    real_path: Path | None = None
    matcher: PermissionMatcher | None = None
    agent_type: str | None = None
    skill: str | None = None
    described: str = ""
    messages: Sequence[Message] = ()
    session: SessionScope | None = None
    denials: Denials = field(default_factory=Denials)

    @property
    def mode(self) -> PermissionMode:
        """The permission mode in force."""
        return self.scope.mode


class PermissionResolver(Plugin, ABC):
    """Answers permission requests, or has no opinion.

    A resolver that did not ship with Toolpost may only tighten (ask or deny) unless the user granted it `decide`. One
    that raises or times out counts as an ask.

        class Protect(PermissionResolver):
            folders: tuple[str, ...] = ("migrations",)

            async def resolve(self, request: PermissionRequest) -> Decision | None:
                ...
    """

    last_resort: ClassVar[tuple[PermissionMode, ...]] = ()
    """Modes in which it is asked about calls that everybody else leaves open, and about no others; empty: about all.

    For what takes time or costs something. It is asked while PreToolUse listeners still run, and again only where they
    changed the input.
    """

    enforces_rules: ClassVar[bool] = False
    """Whether it holds calls against `PermissionRequest.rules`. Where there are rules that forbid something and no resolver
    that is on does, each call is asked about."""

    @abstractmethod
    async def resolve(self, request: PermissionRequest) -> Decision | None:
        """Answer, or return None for no opinion. Called once for each call that reaches the permission step."""

    def withholds(self, request: PermissionRequest) -> Callable[[Path], bool] | None:
        """Return what says of a file that an allowed call comes upon whether it must not read it; None: it may read all.

        For tools that read what they find below the path that they were given, such as searches; they leave out what is
        kept from them (`ToolContext.withheld`). A file is given by its absolute path. One for which it raises is kept back.
        """
        del request
        return None

    @hookimpl(specname="permission_resolvers")
    def _permission_resolvers(self) -> Sequence[PermissionResolver]:
        return (self,)
