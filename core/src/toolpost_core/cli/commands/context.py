"""`toolpost context`: what a request holds before the person has said a word, and what it costs."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import click

from toolpost import LaunchOptions, ProviderError, tokens_in_text, tokens_of
from toolpost_core.api import assemble
from toolpost_core.cli.output import print_json, print_table
from toolpost_core.cli.workspace import with_options
from toolpost_core.loop.estimate import tokens_of_tool
from toolpost_core.session.session import Session

if TYPE_CHECKING:
    from toolpost_core.prompt.blocks import Part, Prompt

HEAD: Final = ("BLOCK", "CACHE", "PART", "TOKENS", "ORIGIN")


@click.group()
def context() -> None:
    """What the model is given before the conversation."""


@context.command()
@click.option("--session", "resumed", metavar="ID", help="Of a session that was kept, as it would go on.")
@click.option("--bare", is_flag=True, help="Of a session without instructions, hooks or extras of the workspace.")
@click.option("--system-prompt", metavar="TEXT", help="With this in the place of our own text.")
@click.option("--append-system-prompt", metavar="TEXT", help="With this added.")
@click.option("--model", metavar="NAME", help="For this model.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with the texts.")
@with_options
def show(resumed: str | None, options: LaunchOptions, as_json: bool, **given: Any) -> None:
    """The blocks of a request in their order, with tokens, cache scope and origin.

    It is that of a session that would start here. Tokens are estimated. CACHE says for whom a block stays the same, so
    that the service need not read it again: shared is all sessions, session one conversation, none nobody.
    """
    options = replace(options, **given, resume=resumed, persist=False)
    with redirect_stdout(sys.stderr):  # plugins' code runs here, and may print
        found = asyncio.run(_shown(options))
    for text in found.pop("warnings"):
        click.echo(text, err=True)
    if as_json:
        print_json(found)
        return
    print_table(HEAD, [row for block in found["blocks"] for row in _rows(block)], "")
    print(f"\nTogether some {found['tokens']:,} tokens before {'the next' if resumed else 'the first'} prompt.")


async def _shown(options: LaunchOptions) -> dict[str, Any]:
    """Gather the prompt as a session does that starts nothing and keeps nothing."""
    session = Session(assemble(options, None, dict(os.environ)))
    try:
        with suppress(ProviderError):  # without a key, the prompt can be shown all the same
            _ = session.model
        blocks = _blocks(session, await session.prompt.gathered())
        known = session.model_in_use.known
        return {
            "model": session.model.id if known else None,
            "prompt_caching": session.model.prompt_caching if known else None,
            "tokens": sum(block["tokens"] for block in blocks),
            "blocks": blocks,
            "warnings": list(session.parts.notices),
        }
    finally:
        await session.services.aclose()
        await session.stash.aclose()


def _blocks(session: Session, prompt: Prompt) -> list[dict[str, Any]]:
    system = [
        _block(f"system {number}", block.scope, list(map(_from_prompt, block.parts)), block.text)
        for number, block in enumerate(prompt.blocks, start=1)
    ]
    return [_tools(session), *system, *_messages(session, prompt)]


def _tools(session: Session) -> dict[str, Any]:
    """Return the tools; with those of servers, which come and go, they are one session's."""
    pool = session.engine().pool
    entries = {entry.tool.name: entry for entry in pool.entries}
    parts = [_part(spec.name, entries[spec.name].plugin, tokens_of_tool(spec)) for spec in pool.specs]
    from_servers = any(entries[spec.name].tool.is_mcp for spec in pool.specs)
    return _block("tools", "session" if from_servers else "shared", parts)


def _messages(session: Session, prompt: Prompt) -> list[dict[str, Any]]:
    """Return what goes before the first prompt, or in a session that goes on its conversation, which has it already."""
    if session.messages:
        part = _part(f"{len(session.messages)} messages", "transcript", tokens_of(session.messages))
        return [_block("conversation", "session", [part])]
    parts = list(map(_from_prompt, prompt.first))
    return [_block("first message", "session", parts, prompt.user)] if parts else []


def _block(name: str, scope: str, parts: Sequence[dict[str, Any]], text: str = "") -> dict[str, Any]:
    tokens = sum(part["tokens"] for part in parts)
    return {"block": name, "scope": scope, "tokens": tokens, "parts": parts, "text": text}


def _from_prompt(part: Part) -> dict[str, Any]:
    return _part(part.name, part.origin, tokens_in_text(part.text), file=part.file, why=part.why)


def _part(name: str, origin: str, tokens: int, *, file: str = "", why: str = "") -> dict[str, Any]:
    return {"name": name, "origin": origin, "tokens": tokens, "file": file, "why": why}


def _rows(block: dict[str, Any]) -> list[tuple[str, ...]]:
    rows = []
    for number, part in enumerate(block["parts"]):
        head = ("", "") if number else (block["block"], block["scope"])
        more = part["file"] or part["why"]
        rows.append(
            (*head, part["name"], f"{part['tokens']:,}", f"{part['origin']} ({more})" if more else part["origin"])
        )
    return rows
