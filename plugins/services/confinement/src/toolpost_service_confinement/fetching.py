"""What stands in for the tool WebFetch where a session has none, so that connections of commands can be asked about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from toolpost import Tool, ToolFailed

if TYPE_CHECKING:
    from toolpost import PermissionScope, Progress, RuleUpdate, ToolContext, ToolResult

NAME = "WebFetch"


@dataclass(frozen=True)
class Fetch:
    """A host as the URL of a fetch, and what for."""

    url: str
    prompt: str = ""


class Fetching(Tool[Fetch]):
    """A connection of a command in the sandbox, judged as a fetch; the session has no such tool to call."""

    name = NAME
    input_model = Fetch

    def is_open_world(self, input: Fetch) -> bool:
        """Say that it reaches beyond this machine."""
        del input
        return True

    def activity(self, input: Fetch) -> str:
        """Say which host a command wants to connect to."""
        return f"A command in the sandbox wants to connect to {_host(input)}"

    def render_call(self, input: Fetch) -> str:
        """Return the host."""
        return _host(input)

    def suggestions(self, input: Fetch, scope: PermissionScope) -> Sequence[RuleUpdate]:
        """Offer a rule for the host."""
        del scope
        rules = [{"toolName": NAME, "ruleContent": f"domain:{_host(input)}"}]
        return ({"type": "addRules", "behavior": "allow", "rules": rules, "destination": "localSettings"},)

    async def call(self, input: Fetch, ctx: ToolContext, progress: Progress) -> ToolResult:
        """Raise ToolFailed: nothing is fetched here."""
        del input, ctx, progress
        raise ToolFailed(f"{NAME} is not installed; only connections of commands are judged by its rules.")


def _host(input: Fetch) -> str:
    return urlsplit(input.url).hostname or input.url
