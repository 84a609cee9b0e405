"""Tools that give a command to a shell: what they share, whichever shell it is."""

from __future__ import annotations

import contextlib
import os
import stat
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final

from toolpost._frozen import frozen
from toolpost._schema import Param
from toolpost.tools import Tool

if TYPE_CHECKING:
    from toolpost._confined import Confined
    from toolpost.context import ToolContext
    from toolpost.messages import ToolResultBlock
    from toolpost.permissions import Decision, PermissionScope, RuleUpdate
    from toolpost.services import Command, Commands
    from toolpost.tools import Progress, ToolResult

DEFAULT_TIMEOUT: Final = 120_000
MOST_TIMEOUT: Final = 600_000
BACKGROUND_TIMEOUT: Final = 1_800_000
MOST_BACKGROUND_TIMEOUT: Final = 7_200_000
"""Milliseconds, compat.md section 8."""

_MOST_TOLD: Final = 1_000_000
_NOBODY_THERE: Final = {
    "TOOLPOST": "1",
    "GIT_EDITOR": "true",
    "GIT_SEQUENCE_EDITOR": "true",
    "EDITOR": "true",
    "VISUAL": "true",
    "GIT_PAGER": "cat",
    "PAGER": "cat",
    "MANPAGER": "cat",
    "SYSTEMD_PAGER": "cat",
    "GH_PAGER": "cat",
    "AWS_PAGER": "",
    "GIT_TERMINAL_PROMPT": "0",
    "TERM": "dumb",
}


@frozen()
class ShellInput:
    """What to run."""

    command: str
    timeout: Annotated[int | None, "Milliseconds, default 120000, at most 600000"] = None
    description: Annotated[str | None, "What it does, in 5 to 10 words"] = None
    run_in_background: Annotated[bool, "Return at once with an id and the file that collects the output"] = False
    disable_sandbox: Annotated[bool, Param("Run outside the sandbox; asks", alias="dangerouslyDisableSandbox")] = False


@frozen(kw_only=True)
class Shell:
    """A shell as it is started for one command.

    `told` is a file that is there. At its end the shell writes to it the folder that it left off in, and what else
    `ShellTool.meaning` wants to know, each with a NUL behind it. `script` is a file that only this start needs.
    """

    argv: Sequence[str]
    env: Mapping[str, str]
    told: Path
    script: Path | None = None

    @staticmethod
    def environment(given: Mapping[str, str]) -> dict[str, str]:
        """Return an environment in which no program waits for a person: editors do nothing, pagers are off."""
        return {**given, **_NOBODY_THERE}

    @property
    def files(self) -> tuple[Path, ...]:
        """The files that belong to this start."""
        return (self.told, self.script) if self.script is not None else (self.told,)

    def says(self) -> list[str]:
        """Return what the shell wrote; nothing where it got no chance to."""
        try:
            # A command may write to it as well, as much as it likes, or put a pipe in its place that nobody writes to.
            fd = os.open(self.told, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
            with os.fdopen(fd, "rb") as file:
                said = file.read(_MOST_TOLD) if stat.S_ISREG(os.fstat(fd).st_mode) else b""
        except OSError:
            return []
        return said.decode("utf-8", errors="surrogateescape").split("\0")[:-1]


class ShellTool(Tool[ShellInput]):
    """A tool that runs a command in a shell. A subclass makes the `Shell` and hands it to `run` in its `call`."""

    input_model = ShellInput
    aborts_siblings = True
    max_result_chars: ClassVar[float] = 60_000  # The service's limit comes first; this one bounds the notes beside it.

    background_after: float = 15.0
    """Seconds that a command may keep the model waiting before it goes on in the background; 0: as long as it takes."""

    @abstractmethod
    async def call(self, input: ShellInput, ctx: ToolContext, progress: Progress) -> ToolResult:
        """Make the shell and `run` the command in it."""

    def prompt(self, options: Mapping[str, Any]) -> str:
        """Return the docstring, and what becomes of a command that takes long."""
        text = super().prompt(options)
        if self.background_after <= 0:
            return text
        moves = f"What takes over {self.background_after:g} s goes on in the background."
        return f"{text}\n- {moves} You are told when it ends: no `sleep` to wait for it."

    def may_move(self, input: ShellInput) -> bool:
        """Whether the command may go on in the background by itself when it takes long."""
        del input
        return True

    def meaning(self, code: int, told: Sequence[str]) -> str:
        """Return what an exit code other than 0 says where it is an answer and no failure; empty where it is one."""
        del code, told
        return ""

    async def validate_input(self, input: ShellInput, ctx: ToolContext) -> str | None:
        """Refuse what no shell could be given."""
        del ctx
        if not input.command.strip():
            return "The parameter `command` is empty. Write the command to run."
        if "\0" in input.command:
            return "The parameter `command` holds a NUL character, which no command line can carry. Write it as \\0."
        return None

    async def check_permissions(self, input: ShellInput, scope: PermissionScope) -> Decision | None:
        """Ask before a command leaves the sandbox, and allow what runs in it, where there is one."""
        return self._confined(input, scope).decision

    def suggestions(self, input: ShellInput, scope: PermissionScope) -> Sequence[RuleUpdate]:
        """Offer nothing: a rule for a whole shell is one for everything."""
        del input, scope
        return ()

    def classifier_input(self, input: ShellInput) -> str:
        """Return the command."""
        return input.command

    def activity(self, input: ShellInput) -> str:
        """Say what runs: the description, or the beginning of the command."""
        return (input.description or "").strip()[:200] or "Running " + (_short(input.command) or "nothing")

    def render_call(self, input: ShellInput) -> str:
        """Return the command's first line."""
        return _short(input.command)

    async def run(
        self, input: ShellInput, shell: Shell, commands: Commands, ctx: ToolContext, progress: Progress
    ) -> ToolResult:
        """Run the command to its end, its time-out or the abort, or let it go on in the background."""
        from toolpost import _shell_results as results
        from toolpost.errors import ToolFailed
        from toolpost.services import TaskInfo

        cwd = ctx.cwd if ctx.cwd.is_dir() else ctx.scope.project
        command = self._command(input, shell, ctx, cwd)
        needed = input.run_in_background
        try:
            if input.run_in_background:
                return results.in_background(await commands.start(command))
            ended = await commands.run(command, abort=ctx.abort, progress=progress)
            needed = isinstance(ended, TaskInfo)
            if isinstance(ended, TaskInfo):
                return results.in_background(ended, moved=True)
            told = shell.says()
        except OSError as error:
            raise ToolFailed(f"{shell.argv[0]} could not be started in {cwd}: {error.strerror or error}") from None
        finally:
            if not needed:
                _remove(shell.files)
        says = "" if ended.timed_out or ended.flooded or not ended.code else self.meaning(ended.code, told)
        if ended.violations:
            ctx.interface.notify(f"The sandbox held back {len(ended.violations)} of what the command tried.")
        folder, left_off = _folder(told), bool(told)
        result = results.result(ended, says, command.timeout)
        return results.moved(result, ctx, cwd, folder, lost=left_off and folder is None)

    def _command(self, input: ShellInput, shell: Shell, ctx: ToolContext, cwd: Path) -> Command:
        from toolpost.services import Command

        behind = input.run_in_background
        usual, most = (BACKGROUND_TIMEOUT, MOST_BACKGROUND_TIMEOUT) if behind else (DEFAULT_TIMEOUT, MOST_TIMEOUT)
        given = input.timeout if input.timeout is not None and input.timeout > 0 else None
        moves = self.background_after > 0 and ctx.control.depth == 0 and self.may_move(input)
        return Command(
            text=input.command,
            argv=shell.argv,
            cwd=cwd,
            env=shell.env,
            timeout=min(given or usual, most) / 1000,
            description=self.activity(input),
            tool_use_id=ctx.control.tool_use_id,
            move_after=self.background_after if moves else None,
            moved_timeout=None if given else BACKGROUND_TIMEOUT / 1000,
            confined=self._confined(input, ctx.scope).inside,
            writable=shell.files,
        )

    def _confined(self, input: ShellInput, scope: PermissionScope) -> Confined:
        from toolpost._confined import Confined

        return Confined(scope, lambda: self.permission_matcher(input, scope), input.disable_sandbox)

    def to_result_block(self, data: Any, tool_use_id: str) -> ToolResultBlock:
        """Make the text that the model reads: the exit code, the output, what else there is to say."""
        from toolpost import _shell_results as results

        text = results.told_of_background(data) if "backgroundTaskId" in data else results.told_of_end(data)
        return {"type": "tool_result", "tool_use_id": tool_use_id, "content": text}


def _short(command: str) -> str:
    first = command.strip().partition("\n")[0]
    return first if len(first) <= 200 else first[:199] + "…"


def _remove(files: Sequence[Path]) -> None:
    for file in files:
        with contextlib.suppress(OSError):  # such as a folder that the command put in its place
            file.unlink()


def _folder(told: Sequence[str]) -> Path | None:
    name = told[0].removesuffix("\n") if told else ""
    try:
        return Path(name).resolve(strict=True) if name and Path(name).is_dir() else None
    except OSError:  # such as a name that is too long
        return None
