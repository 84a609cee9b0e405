"""What the definition of a sub-agent asks for beyond what one is given here: refused or told of, and never passed over."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from toolpost import SessionError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from toolpost import AgentDefinition, AgentRequest
    from toolpost_core.session.inner import Inner

STRICT: Final = ("plan", "dontAsk")
"""Modes in which an agent may do less than in others: to run it in another would be to let it do more than was wanted."""


def isolation_of(request: AgentRequest) -> str:
    """Return where a sub-agent is to run: a request that names no place goes by its definition."""
    definition = request.definition
    return definition.isolation if request.isolation == "none" and definition is not None else request.isolation


def check(request: AgentRequest, session: Inner) -> None:
    """Warn of what an agent goes without, once each. Raises SessionError where it must not run without it."""
    definition = request.definition
    name = definition.name if definition is not None else request.agent_type
    if definition is not None:
        _check_mode(definition, session)
    for what in _missing(request, definition):
        session.warn_once(f"The agent {name!r} runs all the same, but {what}.")


def _check_mode(definition: AgentDefinition, session: Inner) -> None:
    wanted, given = definition.permission_mode, session.permission_mode
    if wanted is None or wanted == given:
        return
    if wanted in STRICT:
        raise SessionError(
            f"The agent {definition.name!r} is to run in the permission mode {wanted!r}, and sub-agents run in that of "
            f"their session, which is {given!r}. Change the session's mode, or take the mode out of the agent's definition."
        )
    session.warn_once(
        f"The agent {definition.name!r} asks for the permission mode {wanted!r}; it runs in its session's, {given!r}."
    )


def _missing(request: AgentRequest, definition: AgentDefinition | None) -> Iterator[str]:
    if request.background or (definition is not None and definition.background):
        yield "not in the background: its parent waits for it"
    if definition is not None and definition.skills:
        yield f"without the skills that its definition names ({', '.join(definition.skills)})"
    if definition is not None and definition.mcp_servers:
        yield f"without MCP servers of its own ({', '.join(map(str, definition.mcp_servers))})"
