"""The abort tree: session, siblings, call."""

from __future__ import annotations

import asyncio
import weakref
from typing import TYPE_CHECKING, Final

from toolpost import Aborted

if TYPE_CHECKING:
    from toolpost import AbortReason, AbortSignal

BUBBLES: Final[frozenset[AbortReason]] = frozenset({"rejected"})
"""Reasons that a child passes on to its parent: a person refused with "stop"."""


class AbortNode:
    """A node of the abort tree. A parent aborts its children with its reason and holds them weakly.

    One that `contains` passes nothing on to its parent: a refusal with "stop" ends the turn, not the session.
    """

    def __init__(self, parent: AbortNode | None = None, *, contains: bool = False) -> None:
        self._parent = parent
        self._contains = contains
        self._children: weakref.WeakSet[AbortNode] = weakref.WeakSet()
        self._reason: AbortReason | None = None
        self._waiting: dict[bool, asyncio.Event] = {}
        if parent is not None:
            parent._children.add(self)
            self._reason = parent._reason

    @property
    def aborted(self) -> bool:
        """Whether this node or one above it was aborted."""
        return self._reason is not None

    @property
    def reason(self) -> AbortReason | None:
        """Why, once aborted; the first reason stays, but any other one takes the place of an interrupt."""
        return self._reason

    def child(self, *, contains: bool = False) -> AbortNode:
        """Return a new child; whoever uses it keeps it alive."""
        return AbortNode(self, contains=contains)

    def past_interrupts(self) -> AbortSignal:
        """Return this node as a call sees it that an interrupt does not end."""
        return _Spared(self)

    def abort(self, reason: AbortReason) -> None:
        """Abort this node and all below it; a refusal with "stop" goes up as well."""
        if self._reason is not None and (self._reason != "interrupt" or reason == "interrupt"):
            return
        self._reason = reason
        for spared, event in self._waiting.items():
            if not spared or reason != "interrupt":
                event.set()
        for child in list(self._children):
            child.abort(reason)
        if reason in BUBBLES and self._parent is not None and not self._contains:
            self._parent.abort(reason)

    async def wait(self) -> AbortReason:
        """Return the reason once aborted."""
        return await self.wait_for(spared=False)

    async def wait_for(self, *, spared: bool) -> AbortReason:
        """Return the reason once aborted; where `spared`, by something other than an interrupt."""
        if self._reason is None or (spared and self._reason == "interrupt"):
            await self._waiting.setdefault(spared, asyncio.Event()).wait()
        assert self._reason is not None
        return self._reason

    def raise_if_aborted(self) -> None:
        """Raise Aborted if aborted."""
        if self._reason is not None:
            raise Aborted(self._reason)


class _Spared:
    """A node whose interrupts are not heard."""

    def __init__(self, node: AbortNode) -> None:
        self._node = node

    @property
    def aborted(self) -> bool:
        return self.reason is not None

    @property
    def reason(self) -> AbortReason | None:
        return None if self._node.reason == "interrupt" else self._node.reason

    async def wait(self) -> AbortReason:
        return await self._node.wait_for(spared=True)

    def raise_if_aborted(self) -> None:
        if self.reason is not None:
            raise Aborted(self.reason)
