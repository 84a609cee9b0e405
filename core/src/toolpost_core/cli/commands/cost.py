"""`toolpost cost`: what sessions have cost, from their transcripts and today's prices."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import click

from toolpost import CostLine, LaunchOptions, ModelInfo, ToolpostError, Usage
from toolpost_core.cli.commands.sessions import read_records
from toolpost_core.cli.output import print_json, print_table
from toolpost_core.cli.workspace import open_workspace, with_options
from toolpost_core.loop.budget import Ledger
from toolpost_core.session import transcript
from toolpost_core.session.parts import json_usage
from toolpost_core.session.store import Store

if TYPE_CHECKING:
    from toolpost_core.plugins.registry import Registry

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
    lines = _lines((file for path in files for file in _with_agents(path)), workspace.registry)
    known = [line.dollars for line in lines if line.dollars is not None]
    if as_json:
        models = {
            line.model: {**json_usage(line.usage), "requests": line.requests, "usd": line.dollars} for line in lines
        }
        print_json({"sessions": [path.stem for path in files], "models": models, "usd": sum(known)})
        return
    print_table(HEAD, [_cells(line) for line in lines], "Nothing was used here.")
    if len(known) < len(lines):
        print("A ? stands for a model whose price is not known; it is in no sum.")


def _lines(files: Iterable[Path], registry: Registry) -> list[CostLine]:
    """Add up requests by model; the blocks of one answer share its id, and what it used in all is told behind them."""
    answers: dict[str, tuple[str, Usage]] = {}
    for file in files:
        for record in read_records(file):
            match record:
                case {"type": "assistant", "message": {"usage": dict(wire)} as message}:
                    key = str(message.get("id") or record.get("uuid"))
                    answers[key] = (str(message.get("model")), _usage(wire))
                case {"type": transcript.USAGE, "messageId": str(key), "model": str(model), "usage": dict(wire)}:
                    answers[key] = (model, _usage(wire))
    ledger = Ledger()
    models = {name: _model(name, registry) for name, _ in answers.values()}
    for name, usage in answers.values():
        ledger.add(models[name], usage)
    return sorted(ledger.lines.values(), key=lambda line: line.model)


def _model(name: str, registry: Registry) -> ModelInfo:
    """The model as the first provider that lists it has it."""
    for plugin in registry.names("providers"):
        with suppress(ToolpostError):
            listed = registry.one("providers", plugin).value.models()
            found = next((info for info in listed if info.id == name), None)
            if found is not None:
                return cast("ModelInfo", found)
    return ModelInfo(id=name)


def _usage(wire: Mapping[str, Any]) -> Usage:
    fields = ("input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    return Usage(**{name: wire[name] for name in fields if isinstance(wire.get(name), int)})


def _cells(line: CostLine) -> tuple[str, ...]:
    usage = line.usage
    tokens = (usage.input_tokens, usage.cache_creation_input_tokens, usage.cache_read_input_tokens, usage.output_tokens)
    dollars = "?" if line.dollars is None else f"{line.dollars:.4f}"
    return (line.model, str(line.requests), *(f"{count:,}" for count in tokens), dollars)


def _with_agents(path: Path) -> list[Path]:
    return [path, *sorted((path.parent / path.stem / "subagents").glob("*.jsonl"))]
