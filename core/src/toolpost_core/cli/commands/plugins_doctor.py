"""`toolpost plugins doctor`: what is wrong with plugins, with what to do about it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from toolpost import LaunchOptions
from toolpost_core.cli.commands.last_session import kept
from toolpost_core.cli.commands.plugins_list import NONE
from toolpost_core.cli.output import print_facts, print_json
from toolpost_core.cli.workspace import Workspace, open_workspace, with_options
from toolpost_core.plugins.doctor import Finding, examine, turn_off
from toolpost_core.session.engine import tool_pool

if TYPE_CHECKING:
    from toolpost_core.tools.pool import Entry


@click.command()
@click.option("--upgrade", metavar="DIST==VERSION", help="Say what that version would break, and look at nothing else.")
@click.option(
    "--wheel",
    type=click.Path(exists=True, path_type=Path),
    help="The wheel of that version; pip or uv fetches it where none is given. It is read, and not installed.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@with_options
def doctor(options: LaunchOptions, upgrade: str | None, wheel: Path | None, as_json: bool) -> int:
    """Load every plugin that is on and tell what is wrong, with what to do; exits 1 where something is."""
    if wheel is not None and upgrade is None:
        raise click.UsageError("--wheel goes with --upgrade DIST==VERSION.")
    workspace = open_workspace(options)
    if upgrade is not None:
        from toolpost_core.cli.commands.plugins_upgrade import rehearsed

        return rehearsed(workspace, upgrade, wheel, as_json)
    with redirect_stdout(sys.stderr):  # what a plugin prints as it is asked
        examined = (*examine(workspace.registry, workspace.settings), *_tools(workspace), *_quarantined(workspace))
    found = list(dict.fromkeys(examined))
    count = len(workspace.registry.inventory.entries)
    if as_json:
        print_json([finding._asdict() for finding in found])
    elif not count:
        print(NONE)
    else:
        for finding in found:
            _print(finding)
        print(f"{count} plugins, {len(found) or 'no'} {'problem' if len(found) == 1 else 'problems'}.")
    return 1 if found or not count else 0


def _print(finding: Finding) -> None:
    print_facts(((f"{finding.level}: {finding.check}:", finding.text),))
    for line in finding.trace:
        print(f"    | {line}")
    print_facts((("what to do:", finding.mend),), indent=2)
    print()


def _tools(workspace: Workspace) -> Iterator[Finding]:
    """Tools of one name, tools that settings hide, and tools that can't be offered."""
    options: dict[str, Any] = {"tools": None, "interactive": False}
    pool = tool_pool(workspace.registry, workspace.settings.rules, None, options, lambda _: None)
    for absent in pool.absent:
        entry, why = absent.entry, absent.why
        rival = pool.find(entry.tool.name)
        if rival is not None and why.startswith("replaced by"):
            if rival.tool.overrides not in (entry.plugin, entry.distribution):
                yield _collision(entry, rival)
            continue
        who = f"The tool {entry.tool.name} of {entry.plugin} ({entry.distribution})"
        off = f"`toolpost plugins disable {entry.plugin}`"
        if why.startswith("denied by the rule"):
            mend = f"Remove that rule if the model is to have the tool; if not, turn the plugin off: {off}."
            yield Finding("hidden tool", f"{who} is hidden: {why}.", mend, entry.plugin, entry.distribution, "warning")
        elif "can't work here" not in why:
            mend = f"Its author must mend it; until then turn it off: {off}."
            yield Finding("tool", f"{who} is left out: {why}.", mend, entry.plugin, entry.distribution)


def _quarantined(workspace: Workspace) -> Iterator[Finding]:
    """Listeners that were off at the end of the last session, of plugins that are still on."""
    last, rules = kept(workspace), workspace.registry.manager.rules
    for row in last.quarantined:
        entry = rules.entry(str(row.get("plugin")))
        if entry is None:
            continue
        goes_on = "what it guards stayed blocked" if row.get("blocks") else "the session went on without it"
        text = (
            f"The {row.get('event')} listener of {entry.name} ({entry.distribution} {entry.version}) failed again and again "
            f"in the last session here ({last.session}) and was off; {goes_on}. Its last error: {row.get('error')}"
        )
        mend = (
            f"Mend what the error says, then `toolpost` begins with it anew; or turn it off: {turn_off(entry)}. "
            f"`toolpost plugins profile {last.session}` shows its calls."
        )
        yield Finding("quarantine", text, mend, entry.name, entry.distribution, "warning")


def _collision(loser: Entry, winner: Entry) -> Finding:
    text = (
        f"Two plugins offer a tool {loser.tool.name}: that of {winner.plugin} ({winner.distribution}) is used, that of "
        f"{loser.plugin} ({loser.distribution}) is not."
    )
    mend = (
        f"Turn one of them off: `toolpost plugins disable {loser.plugin}` or `toolpost plugins disable {winner.plugin}`. "
        f"If {winner.distribution} is meant to replace it, its tool must say overrides={loser.distribution!r}."
    )
    return Finding("tool name collision", text, mend, loser.plugin, loser.distribution)
