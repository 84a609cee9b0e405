"""What comes of a shell's command: the structured output, the text for the model, the folder to go on in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from toolpost.tools import ToolResult

if TYPE_CHECKING:
    from toolpost.context import ToolContext
    from toolpost.services import CommandEnd, TaskInfo

_KILLED: Final = {
    132: "SIGILL",
    134: "SIGABRT",
    135: "SIGBUS",
    136: "SIGFPE",
    137: "SIGKILL, as where memory runs out",
    139: "SIGSEGV",
    152: "SIGXCPU: it used up the processor time that it was given",
    153: "SIGXFSZ: a file became larger than it may",
}


def in_background(task: TaskInfo, *, moved: bool = False) -> ToolResult:
    """Return the result of a command that goes on in the background; `moved` where it did so by itself."""
    data = {"stdout": "", "stderr": "", "interrupted": False, "backgroundTaskId": task.task_id}
    return ToolResult({**data, "outputFile": str(task.output_file), **({"movedToBackground": True} if moved else {})})


def result(ended: CommandEnd, says: str, timeout: float) -> ToolResult:
    """Return the result of a command that ended; `says` is what its exit code means where that is no failure."""
    data: dict[str, Any] = {
        "stdout": ended.output,
        "stderr": "",
        "interrupted": ended.timed_out,
        "exitCode": ended.code,
    }
    if says:
        data["returnCodeInterpretation"] = says
    if ended.timed_out:
        data["timedOutAfterMs"] = round(timeout * 1000)
    if ended.output_file is not None:
        data |= {"persistedOutputPath": str(ended.output_file), "persistedOutputSize": ended.size}
    if ended.flooded:
        data["notes"] = [f"It was ended because it wrote too much: {ended.size:,} bytes"]
    elif ended.code in _KILLED and not ended.timed_out:
        data["notes"] = [f"It was ended by {_KILLED[ended.code]}"]
    if ended.violations:
        data["sandboxViolations"] = list(ended.violations)
    failed = ended.timed_out or ended.flooded or (ended.code != 0 and not says)
    return ToolResult(data, is_error=failed)


def moved(result: ToolResult, ctx: ToolContext, cwd: Path, folder: Path | None, *, lost: bool = False) -> ToolResult:
    """Go on in the folder where the command left off, unless that lies outside, or can't be used (`lost`)."""
    notes: list[str] = []
    if cwd != ctx.cwd:
        notes.append(f"The working folder {ctx.cwd} is gone; this ran in {cwd}")
    target = folder or cwd
    allowed = ctx.scope.directories or (ctx.scope.project,)
    if not any(target.is_relative_to(place) for place in allowed):
        target = ctx.scope.project
        notes.append(f"The working folder was set back to {target}")
    elif lost:
        notes.append(f"The folder where it left off is gone or can't be used; the working folder is {target}")
    if notes:
        result.data["notes"] = [*result.data.get("notes", ()), *notes]
    if target == ctx.cwd:
        return result

    def move(context: ToolContext) -> ToolContext:
        return replace(context, cwd=target, scope=replace(context.scope, cwd=target))

    return replace(result, context_modifier=move)


def told_of_background(data: Mapping[str, Any]) -> str:
    """Return the text for the model about a command in the background."""
    name, file = data["backgroundTaskId"], data["outputFile"]
    how = "It takes long and goes on" if data.get("movedToBackground") else "Running"
    return f"{how} in the background with id {name}. Its output goes to {file} ; you are told when it ends."


def told_of_end(data: Mapping[str, Any]) -> str:
    """Return the text for the model: the exit code, the output, what else there is to say."""
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
    if data.get("sandboxViolations"):
        lines += ["<sandbox_violations>", *data["sandboxViolations"], "</sandbox_violations>"]
    return "\n".join(lines)
