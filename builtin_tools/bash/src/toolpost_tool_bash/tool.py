"""The tool Bash."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from toolpost import Ask, Param, Progress, Tool, ToolFailed, ToolResult

from .exit_codes import meaning
from .jobs import shells_of
from .output import clean, show

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolpost import Decision, PermissionMatcher, PermissionScope, RuleUpdate, ToolContext, ToolResultBlock

    from .matcher import BashMatcher
    from .shell import Ended, Running

DEFAULT_TIMEOUT = 120_000
MOST_TIMEOUT = 600_000
BACKGROUND_TIMEOUT = 1_800_000
MOST_BACKGROUND_TIMEOUT = 7_200_000
"""Milliseconds, compat.md section 8."""


@dataclass(frozen=True)
class BashInput:
    """What to run."""

    command: str
    timeout: Annotated[int | None, "Milliseconds, default 120000, at most 600000"] = None
    description: Annotated[str | None, "What it does, in 5 to 10 words"] = None
    run_in_background: Annotated[bool, "Return at once with an id and the file that collects the output"] = False
    disable_sandbox: Annotated[bool, Param("Run outside the sandbox; asks", alias="dangerouslyDisableSandbox")] = False


class Bash(Tool[BashInput]):
    """Runs a command in a fresh bash, stdin empty, without a terminal.

    - The working folder carries over to the next call as long as it stays inside the working directories; variables,
      functions and options do not. Prefer absolute paths to `cd`; quote paths with blanks.
    - Output (both streams in order) over 30,000 characters is kept in a file; you get its two ends and the path.
    - Read, Edit, Write, Glob and Grep do files and searches better than cat, sed, echo, find and grep.
    - Independent commands: several calls in one message. Dependent ones: one call with `&&`.
    - No `sleep` to wait for a background command: read its output file.
    - git: commit or push only when asked; never skip hooks, force-push or change git's configuration unasked; no
      interactive flags (-i).
    """

    name = "Bash"
    search_hint = "shell command terminal run execute"
    input_model = BashInput
    aborts_siblings = True
    max_result_chars: ClassVar[float] = 60_000  # Its own limit comes first; this one only bounds the notes beside it.

    def warm(self) -> None:
        """Judge a command once, in both ways, and import what runs one."""
        from . import shell

        del shell
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

    async def check_permissions(self, input: BashInput, scope: PermissionScope) -> Decision | None:
        """Ask before a command leaves the sandbox, where there is one."""
        if input.disable_sandbox and (scope.sandbox or {}).get("enabled"):
            return Ask("it is to run outside of the sandbox")
        return None

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

    def classifier_input(self, input: BashInput) -> str:
        """Return the command."""
        return input.command

    def activity(self, input: BashInput) -> str:
        """Say what runs: the description, or the beginning of the command."""
        return (input.description or "").strip()[:200] or "Running " + (_short(input.command) or "nothing")

    def render_call(self, input: BashInput) -> str:
        """Return the command's first line."""
        return _short(input.command)

    async def validate_input(self, input: BashInput, ctx: ToolContext) -> str | None:
        """Refuse what bash could not be given."""
        del ctx
        if not input.command.strip():
            return "The parameter `command` is empty. Write the command to run."
        if "\0" in input.command:
            return "The parameter `command` holds a NUL character, which no command line can carry. Write it as \\0."
        return None

    async def call(self, input: BashInput, ctx: ToolContext, progress: Progress) -> ToolResult:
        """Run the command to its end, its time-out or the abort."""
        from . import shell

        ctx.abort.raise_if_aborted()
        shells = shells_of(ctx)
        cwd = ctx.cwd if ctx.cwd.is_dir() else ctx.scope.project
        command = input.command.encode("utf-8", errors="replace").decode()
        try:
            running = await shell.start(
                command, processes=ctx.processes, cwd=cwd, env=ctx.env or os.environ, folder=shells.folder()
            )
        except OSError as error:
            raise ToolFailed(f"bash could not be started in {cwd}: {error.strerror or error}") from None
        if input.run_in_background:
            seconds = _seconds(input.timeout, BACKGROUND_TIMEOUT, MOST_BACKGROUND_TIMEOUT)
            name = shells.keep(running, seconds)
            return ToolResult({"stdout": "", "backgroundTaskId": name, "outputFile": str(running.output)})
        seconds = _seconds(input.timeout, DEFAULT_TIMEOUT, MOST_TIMEOUT)
        kept = False
        try:
            ended = await shell.wait(
                running, timeout=seconds, abort=ctx.abort, tell=lambda elapsed: _tell(progress, running, elapsed)
            )
            result, kept = _result(input, running, ended, seconds)
        finally:
            if not kept:
                running.output.unlink(missing_ok=True)
        return _moved(result, ctx, cwd, ended.folder)

    def to_result_block(self, data: Any, tool_use_id: str) -> ToolResultBlock:
        """Make the text that the model reads: the exit code, the output, what else there is to say."""
        if "backgroundTaskId" in data:
            name, file = data["backgroundTaskId"], data["outputFile"]
            text = f"Running in the background with id {name}. Its output goes to {file}"
            return {"type": "tool_result", "tool_use_id": tool_use_id, "content": text}
        failed = data.get("exitCode") and not data.get("returnCodeInterpretation") and not data.get("timedOutAfterMs")
        lines = [f"Exit code {data['exitCode']}"] if failed else []
        if data.get("timedOutAfterMs"):
            seconds = data["timedOutAfterMs"] / 1000
            lines.append(f"Command timed out after {seconds:g} s; it and all it started was ended.")
        if data["stdout"].strip():
            lines.append(data["stdout"].rstrip())
        if "persistedOutputPath" in data:
            lines.append(f"[Whole output: {data['persistedOutputPath']} ]")
        lines += [f"[{note}]" for note in (data.get("returnCodeInterpretation"), *data.get("notes", ())) if note]
        return {"type": "tool_result", "tool_use_id": tool_use_id, "content": "\n".join(lines)}


@lru_cache(maxsize=32)
def _understood(command: str) -> BashMatcher:
    """Understand a command where no place is known: only the programs and their options count then."""
    from .matcher import understand

    return understand(command, cwd=Path("/"), home=Path("/"), check_git=False)


def _short(command: str) -> str:
    first = command.strip().partition("\n")[0]
    return first if len(first) <= 200 else first[:199] + "…"


def _seconds(given: int | None, default: int, most: int) -> float:
    return min(given if given is not None and given > 0 else default, most) / 1000


def _result(input: BashInput, running: Running, ended: Ended, seconds: float) -> tuple[ToolResult, bool]:
    """Make the result; the second value says whether the file with the whole output is kept."""
    from . import shell

    shown = show(running.output)
    says = "" if ended.timed_out else meaning(input.command, ended.code)
    data: dict[str, Any] = {"stdout": shown.text, "stderr": "", "interrupted": ended.timed_out, "exitCode": ended.code}
    if says:
        data["returnCodeInterpretation"] = says
    if ended.timed_out:
        data["timedOutAfterMs"] = round(seconds * 1000)
    kept = shown.cut and not ended.flooded
    if kept:
        data |= {"persistedOutputPath": str(running.output), "persistedOutputSize": shown.size}
    if ended.flooded:
        data["notes"] = [f"It was ended: it had written over {shell.MOST_OUTPUT:,} bytes"]
    failed = ended.timed_out or ended.flooded or (ended.code != 0 and not says)
    return ToolResult(data, is_error=failed), kept


def _moved(result: ToolResult, ctx: ToolContext, cwd: Path, folder: Path | None) -> ToolResult:
    """Go on in the folder where the command left off, unless that lies outside."""
    notes: list[str] = []
    if cwd != ctx.cwd:
        notes.append(f"The working folder {ctx.cwd} is gone; this ran in {cwd}")
    target = folder or cwd
    allowed = ctx.scope.directories or (ctx.scope.project,)
    if not any(target.is_relative_to(place) for place in allowed):
        target = ctx.scope.project
        notes.append(f"The working folder was set back to {target}")
    if notes:
        result.data["notes"] = [*result.data.get("notes", ()), *notes]
    if target == ctx.cwd:
        return result

    def move(context: ToolContext) -> ToolContext:
        return replace(context, cwd=target, scope=replace(context.scope, cwd=target))

    return replace(result, context_modifier=move)


def _tell(progress: Progress, running: Running, elapsed: float) -> None:
    """Show the last lines of the output so far."""
    size = running.output.stat().st_size
    with running.output.open("rb") as file:
        file.seek(max(size - 2_000, 0))
        lines = clean(file.read(2_000)).rstrip().split("\n")[-5:]
    progress("\n".join(lines), elapsed=round(elapsed, 1), bytes=size)
