"""The tool Bash."""

from __future__ import annotations

from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolpost import ShellInput, ShellTool, ToolFailed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolpost import (
        Commands,
        PermissionMatcher,
        PermissionScope,
        Progress,
        RuleUpdate,
        Shell,
        ToolContext,
        ToolResult,
        View,
    )

    from .matcher import BashMatcher

BashInput = ShellInput
"""What to run."""


class Bash(ShellTool):
    """Runs a command in a fresh bash, stdin empty, without a terminal.

    - The working folder carries over to the next call as long as it stays inside the working directories; variables,
      functions and options do not. Prefer absolute paths to `cd`; quote paths with blanks.
    - Output (both streams in order) over 30,000 characters is kept in a file; you get its two ends and the path.
    - Read, Edit, Write, Glob and Grep do files and searches better than cat, sed, echo, find and grep.
    - Independent commands: several calls in one message. Dependent ones: one call with `&&`.
    - git: commit or push only when asked; never skip hooks, force-push or change git's configuration unasked; no
      interactive flags (-i).
    """

    name = "Bash"
    search_hint = "shell command terminal run execute"

    login_shell: bool = False
    """Whether commands have the functions and aliases of the user's login shell, beside the programs on PATH."""

    def warm(self) -> None:
        """Judge a command once, in both ways, and import what runs one."""
        from . import exit_codes, shell, stake

        del exit_codes, shell, stake
        _ = _understood("true | true").read_only

    def is_read_only(self, input: BashInput) -> bool:
        """Whether every program of the line is known to only read."""
        return not input.run_in_background and _understood(input.command).read_only

    def is_concurrency_safe(self, input: BashInput) -> bool:
        """Commands that only read do not disturb one another."""
        if input.run_in_background:
            return False
        matcher = _understood(input.command)
        return matcher.read_only and not any(part.argv[:1] == ("cd",) for part in matcher.parts)

    def is_search_or_read(self, input: BashInput) -> bool:
        """The same as read-only."""
        return self.is_read_only(input)

    def permission_matcher(self, input: BashInput, scope: PermissionScope) -> PermissionMatcher:
        """Return what the line would run, read and write."""
        from .matcher import understand

        return understand(input.command, cwd=scope.cwd, home=scope.home)

    def suggestions(self, input: BashInput, scope: PermissionScope) -> Sequence[RuleUpdate]:
        """Offer a rule for each program of the line that is not known to only read."""
        from .suggest import specifiers

        matcher = self.permission_matcher(input, scope)
        rules = [{"toolName": self.name, "ruleContent": text} for text in specifiers(matcher)]
        if not rules:
            return ()
        return ({"type": "addRules", "behavior": "allow", "rules": rules, "destination": "localSettings"},)

    async def preview(self, input: BashInput, ctx: ToolContext) -> View | None:
        """Show what a `sed -i` would change, as an edit is shown."""
        if "sed" not in input.command:
            return None
        from .in_place import edited

        return await edited(input.command, ctx)

    def may_move(self, input: BashInput) -> bool:
        """Say no to a `sleep`: who asks for one wants to wait."""
        return input.command.split(maxsplit=1)[:1] != ["sleep"]

    def meaning(self, code: int, told: Sequence[str]) -> str:
        """Return what the code of the last program says where it is an answer."""
        from .exit_codes import meaning

        return meaning(code, told[1], told[2]) if len(told) > 2 else ""

    async def call(self, input: BashInput, ctx: ToolContext, progress: Progress) -> ToolResult:
        """Run the command to its end, its time-out or the abort."""
        from toolpost import Commands

        from .stake import at_stake

        ctx.abort.raise_if_aborted()
        commands = ctx.service(Commands)
        bash = await self._bash(input, commands, ctx)
        stake = await at_stake(input.command, ctx.cwd if ctx.cwd.is_dir() else ctx.scope.project, ctx)
        try:
            return await self.run(input, bash, commands, ctx, progress)
        finally:
            await stake.settle()

    async def _bash(self, input: BashInput, commands: Commands, ctx: ToolContext) -> Shell:
        """Make a bash for the command, and the setup where it is the session's first."""
        from toolpost import env_files

        from . import setup, variables
        from .shell import environment, fresh_bash

        command = input.command.encode("utf-8", errors="replace").decode()
        env = environment(ctx.env)
        try:
            folder = commands.folder()
            if not setup.is_written(folder):
                setup.write(folder, await self._snapshot(ctx) if self.login_shell else "")
            left = env_files(ctx.scope.config_dir, ctx.control.session_id, env)
            reads = partial(self._read_by, input, commands, ctx)
            before, note = await variables.readable(left, ctx, reads) if left else ((), "")
            return fresh_bash(command, env=env, folder=folder, before=before, note=note)
        except OSError as error:
            raise ToolFailed(f"bash could not be prepared: {error}. It needs a folder for temporary files.") from None

    async def _read_by(self, input: BashInput, commands: Commands, ctx: ToolContext, argv: Sequence[str]) -> str:
        """Run a bash beside the command, within the same walls; returns what it prints."""
        from toolpost import Command, CommandEnd, Shell

        from .shell import environment, kept_from
        from .variables import LIMIT

        trial = Command(
            text=argv[-1],
            argv=argv,
            cwd=ctx.cwd if ctx.cwd.is_dir() else ctx.scope.project,
            env=Shell.environment(kept_from(environment(ctx.env))),
            timeout=LIMIT,
            confined=self._confined(input, ctx.scope).inside,
        )
        ended = await commands.run(trial, abort=ctx.abort, progress=_tells_nothing)
        return ended.output if isinstance(ended, CommandEnd) and not ended.timed_out else ""

    async def _snapshot(self, ctx: ToolContext) -> str:
        from .shell import environment
        from .snapshot import snapshot

        try:
            return await snapshot(ctx.processes, env=environment(ctx.env), cwd=ctx.scope.project)
        except OSError as error:
            ctx.interface.warn(f"Bash goes without the functions and aliases of the login shell: {error}")
            return ""


def _tells_nothing(text: str, /, **data: Any) -> None:
    """What a trial prints is nobody's matter."""


@lru_cache(maxsize=32)
def _understood(command: str) -> BashMatcher:
    """Understand a command where no place is known: only the programs and their options count then."""
    from .matcher import understand

    return understand(command, cwd=Path("/"), home=Path("/"), check_git=False)
