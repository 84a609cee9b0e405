"""`toolpost plugins bisect`: which plugin makes a command fail."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING, Any

import click

from toolpost import LaunchOptions, PluginError
from toolpost_core.cli.output import one_line, print_json, print_wrapped
from toolpost_core.cli.workspace import Workspace, open_workspace, with_options

if TYPE_CHECKING:
    from toolpost_core.plugins.bisect import Outcome, Verdict


@click.command()
@click.argument("command", nargs=-1, required=True)
@click.option(
    "--slower-than",
    "limit",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="A run that takes longer is ended, and counts as failed.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@with_options
def bisect(command: tuple[str, ...], options: LaunchOptions, limit: float | None, as_json: bool) -> int:
    """Run COMMAND with fewer and fewer third-party plugins on, until those that make it fail are known.

    COMMAND fails when its exit code is not 0. Settings files are left alone: the runs get $TOOLPOST_SETTINGS, so a
    --settings of COMMAND's own that turns on a plugin wins. Write -- before COMMAND. Exits 0 if a culprit was found.
    """
    from toolpost_core.plugins.bisect import Bisection

    workspace = open_workspace(options)
    plugins = _strangers(workspace)
    try:
        verdict = Bisection(command, plugins, limit, _given(workspace), lambda run: _tell(run, len(plugins))).find()
    except OSError as error:
        raise PluginError(f"{command[0]!r} can't be run: {error.strerror or error}.") from error
    if as_json:
        runs = [run._asdict() for run in verdict.runs]
        print_json({"outcome": verdict.outcome, "found": verdict.found, "plugins": plugins, "runs": runs})
    else:
        print_wrapped(_sentence(verdict, command))
    return 0 if verdict.outcome == "found" else 1


def _strangers(workspace: Workspace) -> tuple[str, ...]:
    """Distributions with a plugin that is on and did not come with Toolpost."""
    registry = workspace.registry
    entries = registry.inventory.entries
    return tuple(sorted({e.distribution for e in entries if not e.standard and registry.state_of(e).status == "on"}))


def _given(workspace: Workspace) -> dict[str, Any]:
    """What --settings, or the environment, says to this command counts for the runs too."""
    return next((dict(document.values) for document in workspace.settings.documents if document.level == "flag"), {})


def _tell(run: Outcome, count: int) -> None:
    which = "all" if len(run.on) == count else ", ".join(run.on) if len(run.on) <= 3 else f"{len(run.on)}"
    verdict = f"fails ({run.how})" if run.failed else "works"
    print(f"with {which or 'none'} of {count} on: {verdict}, {run.seconds:.1f} s", file=sys.stderr, flush=True)


def _sentence(verdict: Verdict, command: tuple[str, ...]) -> str:
    line = shlex.join(command)
    match verdict.outcome:
        case "nothing to turn off":
            return f"No third-party plugin is on, so none makes `{line}` fail. `toolpost doctor` looks elsewhere."
        case "succeeds with all":
            return (
                f"`{line}` works with all {len(verdict.runs[0].on)} third-party plugins on; there is nothing to find. If it "
                "fails now and then, or is slow, try --slower-than, or a command that repeats it."
            )
        case "fails with none":
            said = _last_line(verdict.runs[-1])
            return (
                f"`{line}` fails with no third-party plugin on as well, so none of them is the cause. It said: {said}"
            )
    run = next(run for run in verdict.runs if set(run.on) == set(verdict.found))
    off = " or ".join(f"`toolpost plugins disable {name}`" for name in verdict.found)
    if len(verdict.found) == 1:
        return f"{verdict.found[0]} makes it fail: {run.how}. It said: {_last_line(run)} Turn it off: {off}."
    together = " and ".join(verdict.found)
    return (
        f"{together} make it fail together ({run.how}); without any one of them it works. It said: {_last_line(run)} "
        f"Turn one of them off: {off}."
    )


def _last_line(run: Outcome) -> str:
    lines = [one_line(line) for line in run.printed.splitlines() if line.strip()]
    return lines[-1][:300] if lines else "nothing."
