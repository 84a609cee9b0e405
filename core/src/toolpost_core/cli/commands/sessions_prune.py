"""`toolpost sessions prune`."""

from __future__ import annotations

import click

from toolpost import LaunchOptions
from toolpost_core.cli.output import print_json
from toolpost_core.cli.workspace import open_workspace, with_options
from toolpost_core.transcripts.retention import DAYS, Pruned
from toolpost_core.transcripts.retention import prune as remove
from toolpost_core.transcripts.store import Store


@click.command()
@click.option("--older-than", "days", type=click.FloatRange(min=0), metavar="DAYS", help="Else what the settings say.")
@click.option("--dry-run", is_flag=True, help="Only say what would be removed.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@with_options
def prune(options: LaunchOptions, days: float | None, dry_run: bool, as_json: bool) -> None:
    """Remove the sessions of all folders that nothing was added to for some days, with what belongs to them.

    The days are those of the setting cleanupPeriodDays, or 30. It is done by itself once a day. Sessions in use stay.
    """
    workspace = open_workspace(options)
    days = workspace.settings.get("cleanupPeriodDays", DAYS) if days is None else days
    pruned = remove(Store(workspace.places.config_dir), days, dry=dry_run)
    if as_json:
        print_json(
            {
                "days": days,
                "dry_run": dry_run,
                "sessions": list(map(str, pruned.sessions)),
                "folders": list(map(str, pruned.folders)),
                "in_use": list(map(str, pruned.kept)),
                "bytes": pruned.bytes,
            }
        )
        return
    for path in (*pruned.sessions, *pruned.folders):
        print(path)
    print(_summed(pruned, days, dry_run))


def _summed(pruned: Pruned, days: float, dry_run: bool) -> str:
    count = len(pruned.sessions)
    sessions = "1 session" if count == 1 else f"{count} sessions"
    done = "would be removed" if dry_run else "removed"
    kept = f" {len(pruned.kept)} in use stayed." if pruned.kept else ""
    return f"{sessions} older than {days:g} days {done}, {pruned.bytes / 1e6:.1f} MB.{kept}"
