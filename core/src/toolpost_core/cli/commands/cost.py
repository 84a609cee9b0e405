"""`toolpost cost`: what sessions have cost, from their transcripts and today's prices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

import click

from toolpost import CostLine, CostTotals, LaunchOptions, ModelInfo, ToolpostError
from toolpost_core.cli.output import print_json, print_table
from toolpost_core.cli.workspace import Workspace, open_workspace, with_options
from toolpost_core.session.adjusting import adjusted
from toolpost_core.session.past_costs import lines_of, totals_of
from toolpost_core.session.usage import json_usage
from toolpost_core.transcripts.store import Store

if TYPE_CHECKING:
    from toolpost import Price, Provider

HEAD: Final = ("MODEL", "REQUESTS", "INPUT", "CACHE WRITE", "CACHE READ", "OUTPUT", "USD")


@click.command()
@click.argument("session", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@with_options
def cost(session: str | None, options: LaunchOptions, as_json: bool) -> None:
    """What one session, or all of this folder, used and cost, by model; work of sub-agents counts."""
    workspace = open_workspace(options)
    store, project = Store(workspace.places.config_dir), workspace.places.project
    files = [store.find(session, project)] if session else [found.path for found in store.of(project)]
    models: dict[str, ModelInfo] = {}

    def model_of(name: str) -> ModelInfo:
        return models.setdefault(name, _model(name, workspace))

    lines, totals = lines_of(files, model_of), totals_of(files)
    if as_json:
        print_json(
            {
                "sessions": [path.stem for path in files],
                "models": {line.model: _facts(line, models[line.model].price) for line in lines},
                "usd": _sum(lines),
                "unpriced": [line.model for line in lines if line.dollars is None],
                "totals": _as_json(totals),
            }
        )
        return
    print_table(HEAD, [_cells(line) for line in lines], "Nothing was used here.")
    for text in _below(lines, totals):
        print(text)


def _model(name: str, workspace: Workspace) -> ModelInfo:
    """The model as the first provider that lists it has it, with a date behind its name or without; as settings price it."""
    info, bare = ModelInfo(id=name), name.partition("[")[0]
    for plugin in workspace.registry.names("providers"):
        with suppress(ToolpostError):
            provider: Provider = workspace.registry.one("providers", plugin).value
            if any(bare.startswith(listed.id) or listed.id.startswith(bare) for listed in provider.models()):
                info = provider.model(name)
                break
    return adjusted(info, {}, workspace.settings.get("modelPricing"))


def _sum(lines: Sequence[CostLine]) -> float:
    return sum(line.dollars for line in lines if line.dollars is not None)


def _facts(line: CostLine, price: Price | None) -> dict[str, Any]:
    told = {"as_of": str(price.as_of), "source": price.source} if price is not None else None
    return {**json_usage(line.usage), "requests": line.requests, "usd": line.dollars, "price": told}


def _as_json(totals: CostTotals) -> dict[str, Any]:
    return {
        "api_seconds": totals.api_seconds,
        "api_seconds_without_retries": max(0.0, totals.api_seconds - totals.retry_seconds),
        "tool_seconds": totals.tool_seconds,
        "lines_added": totals.lines_added,
        "lines_removed": totals.lines_removed,
    }


def _cells(line: CostLine) -> tuple[str, ...]:
    usage = line.usage
    tokens = (usage.input_tokens, usage.cache_creation_input_tokens, usage.cache_read_input_tokens, usage.output_tokens)
    dollars = "?" if line.dollars is None else f"{line.dollars:.4f}"
    return (line.model, str(line.requests), *(f"{count:,}" for count in tokens), dollars)


def _below(lines: Sequence[CostLine], totals: CostTotals) -> Iterator[str]:
    """Say what stands in no column."""
    if len(lines) > 1:
        yield f"In all: {_sum(lines):.4f} USD"
    if any(line.dollars is None for line in lines):
        yield "A ? stands for a model whose price is not known; it is in no sum."
    if searches := sum(line.usage.web_search_requests for line in lines):
        yield f"Web searches: {searches:,}"
    if totals.api_seconds:
        lost = f", {totals.retry_seconds:.1f} s of it with retries" if totals.retry_seconds else ""
        yield f"Answers took {totals.api_seconds:.1f} s{lost}; tools took {totals.tool_seconds:.1f} s."
    if totals.lines_added or totals.lines_removed:
        yield f"Lines of files: {totals.lines_added:,} added, {totals.lines_removed:,} removed."
