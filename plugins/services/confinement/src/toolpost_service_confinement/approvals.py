"""Asking about hosts that nothing names: as WebFetch would be, so that the same rules and answers count."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from toolpost import Permissions


class Approvals:
    """Asks about each host once a session; an answer counts for all connections that wait for it or come later."""

    def __init__(self, permissions: Permissions) -> None:
        self._permissions = permissions
        self._asked: dict[str, asyncio.Task[str]] = {}

    async def ask(self, host: str) -> str:
        """Return why a host may not be connected to; nothing where it may."""
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
            decision = await self._permissions.check("WebFetch", {"url": f"https://{host}/", "prompt": prompt})
        except Exception as error:
            return f"it could not be asked about: {error}"
        if decision.behavior == "allow":
            return ""
        return f"it was not allowed when asked about{': ' if decision.reason else ''}{decision.reason}"
