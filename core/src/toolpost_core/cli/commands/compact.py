"""`toolpost compact`: what each compaction strategy would keep of a session, or doing it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import click

import toolpost
from toolpost import LaunchOptions, ModelInfo, ModelRequest
from toolpost_core.cli.output import print_json, print_table
from toolpost_core.cli.workspace import Workspace, open_workspace, with_options
from toolpost_core.loop.compacted import checked
from toolpost_core.loop.compacting import reason_of, score_of, unknown_in
from toolpost_core.loop.thresholds import Policy, Thresholds
from toolpost_core.session.engine import strategies
from toolpost_core.transcripts.history import read
from toolpost_core.transcripts.past import prompts_in
from toolpost_core.transcripts.store import Store

if TYPE_CHECKING:
    from toolpost_core.loop.compacting import Named
    from toolpost_core.transcripts.history import History

HEAD: Final = ("STRATEGY", "ORDER", "WHEN", "KEPT", "DROPPED", "TOKENS", "WHAT IT DOES")
STAND_IN: Final = "<summary>[The model's summary would stand here.]</summary>"
FULL: Final = ("manual", "auto", "prompt_too_long")
"""Triggers of which the first that a strategy heeds is tried."""


@click.command()
@click.argument("session")
@click.option("--dry-run", is_flag=True, help="Say what each strategy would keep; nothing is sent and nothing changes.")
@click.option("--instructions", default="", metavar="TEXT", help="What matters in it.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON; with --dry-run.")
@with_options
def compact(session: str, options: LaunchOptions, dry_run: bool, instructions: str, as_json: bool) -> None:
    """Make a session's conversation shorter, as /compact does in it; with --dry-run only look at it."""
    workspace = open_workspace(options)
    path = Store(workspace.places.config_dir).find(session, workspace.places.project)
    if not dry_run:
        asyncio.run(_compact(replace(options, resume=str(path)), instructions))
        return
    found = asyncio.run(_tried(workspace, read(path), options.model, instructions))
    if as_json:
        print_json(found)
        return
    print_table(HEAD, [_row(one) for one in found], "No compaction strategy is on.")


async def _compact(options: LaunchOptions, instructions: str) -> None:
    from toolpost_core.api import open_session

    async with open_session(options) as session:
        async for event in session.compact(instructions):
            if isinstance(event, toolpost.Notice):
                print(event.text)


async def _tried(workspace: Workspace, history: History, model: str | None, instructions: str) -> list[dict[str, Any]]:
    import os

    policy = Policy.of(workspace.settings.values, os.environ)
    limits = Thresholds.of(ModelInfo(id=""), model, policy)
    messages = history.messages
    named = strategies(workspace.registry, _scope(workspace))
    if odd := unknown_in(policy.order, named):
        click.echo(odd, err=True)
    context = toolpost.Context(
        messages=messages,
        used=max(toolpost.tokens_of(messages), limits.auto),
        window=limits.effective,
        budget=limits.auto // 2,
        instructions=instructions,
        request=ModelRequest(model="", messages=messages),
        ask=_stand_in,
        said=lambda: [prompt.text for prompt in prompts_in(history.records())],
    )
    order = {name: place for place, name in enumerate(policy.order)}
    ranked = sorted(named, key=lambda one: (order.get(one.plugin, len(order)), one.strategy.order, one.plugin))
    return [await _try(one, context) for one in ranked]


async def _try(named: Named, context: toolpost.Context) -> dict[str, Any]:
    """Let one strategy work on the whole conversation, as /compact would, or as if it were over its threshold."""
    strategy = named.strategy
    trigger = next((trigger for trigger in FULL if trigger in strategy.triggers), None)
    facts = {"strategy": named.plugin, "order": strategy.order, "trigger": trigger or ", ".join(strategy.triggers)}
    before = context.tokens(context.messages)
    if trigger is None:
        return {**facts, "does": "works on a part that a person picks: /compact up_to, /compact from", "before": before}
    context = replace(context, trigger=trigger)
    try:
        result = checked(await strategy.compact(context), context) if score_of(strategy, context) > 0 else None
    except Exception as error:
        return {**facts, "does": f"fails: {reason_of(error)}", "before": before}
    if result is None:
        return {**facts, "does": "finds nothing to do", "before": before}
    done = {"before": before, "after": result.tokens, "kept": len(result.kept), "dropped": len(result.dropped)}
    return {**facts, "does": "sums up" if strategy.summarizes else "clears", **done, "boundary": result.boundary}


def _scope(workspace: Workspace) -> toolpost.SessionScope:
    places = workspace.places
    return toolpost.SessionScope(
        session_id="",
        project=places.project,
        cwd=places.project,
        home=places.home,
        config_dir=places.config_dir,
        settings=workspace.settings.values,
    )


async def _stand_in(request: ModelRequest) -> str:
    del request
    return STAND_IN


def _row(one: dict[str, Any]) -> Sequence[str]:
    after = f"{one['before']:,} → {one['after']:,}" if "after" in one else f"{one['before']:,}"
    counts = (str(one.get("kept", "")), str(one.get("dropped", "")))
    return (one["strategy"], str(one["order"]), one["trigger"], *counts, after, one["does"])
