"""Asking about hosts that nothing names: as WebFetch would be, so that the same rules and answers count."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from .fetching import NAME, Fetching

if TYPE_CHECKING:
    from toolpost import Permissions


MOST_ASKED: Final = 50
"""Hosts in a session: who is asked on and on says yes without reading."""


class Approvals:
    """Asks about each host once a session; an answer counts for all connections that wait for it or come later."""

    def __init__(self, permissions: Permissions) -> None:
        self._permissions = permissions
        self._asked: dict[str, asyncio.Task[str]] = {}

    async def ask(self, host: str) -> str:
        """Return why a host may not be connected to; nothing where it may."""
        if host not in self._asked and len(self._asked) >= MOST_ASKED:
            return f"{MOST_ASKED} hosts were asked about in this session, and no more are; sandbox.network can allow it"
        if host not in self._asked:
            self._asked[host] = asyncio.ensure_future(self._put(host))
        return await asyncio.shield(self._asked[host])

    def close(self) -> None:
        """Call off what still waits for an answer."""
        for question in self._asked.values():
            question.cancel()

    async def _put(self, host: str) -> str:
        prompt = "A command in the sandbox wants to connect to this host."
        try:
            asked = {"url": f"https://{host}/", "prompt": prompt}
            decision = await self._permissions.check(NAME, asked, stand_in=Fetching())
        except Exception as error:
            return f"it could not be asked about: {error}"
        if decision.behavior == "allow":
            return ""
        return f"it was not allowed when asked about{': ' if decision.reason else ''}{decision.reason}"
